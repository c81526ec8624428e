# Everything runs in .venv, which the first call makes; nothing is installed outside this folder.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
BUILD_BOOK := $(BIN)/jupyter-book build . --all -W -n --keep-going
CONFIGURE = sed -e 's|execute_notebooks: force|execute_notebooks: $(1)|' -e 's|\./book/_ext|../book/_ext|' _config.yml
COMPARE ?= --nbval
COMPARED = $(COMPARE) --nbval-current-env --nbval-cell-timeout 300
TEST := $(BIN)/pytest -n 3 --dist loadscope
NBVAL = $(TEST) $(COMPARED)
FEW := _build/few/bin/python
EXPERIMENTS := $(patsubst %,notebooks/%.ipynb,experiments experiment_figures personalized_experiments)
# The packages of a paragraph of requirements.txt: the second is for the chapters of the paper, the third for these.
PARAGRAPH = $$(awk -v RS= 'NR == $(1)' requirements.txt | grep -v '^\#')
PAPER = $(shell awk '/caption:/ {on = /The paper$$/} on && /file:/ {print $$3}' _toc.yml)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
CACHE := _build/.jupyter_cache

# Sphinx, Jupyter's cache and venv read these as patterns and as parts of addresses, and may write elsewhere.
$(foreach mark,% ? * [ :,$(if $(findstring $(mark),$(CURDIR)),$(error This folder must have no $(mark) in its path: $(CURDIR))))

# The same numbers on every machine: a fixed hash seed, one BLAS thread for each process, and no
# Jupyter, IPython or Matplotlib settings but the defaults.
export PYTHONHASHSEED := 0
export OMP_NUM_THREADS := 1
export IPYTHONDIR := $(CURDIR)/.venv/ipython
export JUPYTER_CONFIG_DIR := $(CURDIR)/.venv/jupyter
export JUPYTER_PREFER_ENV_PATH := 1
export MPLCONFIGDIR := $(CURDIR)/.venv/matplotlib
export PYDEVD_DISABLE_FILE_VALIDATION := 1
unexport MPLBACKEND
# What is imported is compiled once, and kept.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help book pdf test accessibility coverage evaluate fuzz lint locked paper same few stored-book notebooks dist alone clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' Makefile

# The largest notebooks first, so that no long one runs alone at the end.
book: $(INSTALLED) ## Run every notebook, side by side, and build the book
	rm -rf $(CACHE) && mkdir -p $(CACHE)
	JUPYTERCACHE=$(CACHE) $(BIN)/jcache notebook add $$(ls -S notebooks/*.ipynb)
	JUPYTERCACHE=$(CACHE) $(BIN)/jcache project execute --executor local-parallel --timeout 120
	$(call CONFIGURE,cache) > _build/cache.yml
	$(BUILD_BOOK) --config _build/cache.yml
	@printf '\nThe book is ready. Open\n\n    %s\n\n' "$$PWD/_build/html/index.html"

pdf: $(INSTALLED) stored-book ## Print the book to _build/uldp.pdf (needs Chromium)
	awk '/book.api/ {next} !/sections:/' _toc.yml > _build/print.yml
	$(BIN)/jupyter-book build . --builder singlehtml --quiet --config _build/stored.yml --toc _build/print.yml
	$(BIN)/python tools/print_book.py

# The notebooks need no book, and fill the cores while it is built.
test: $(INSTALLED) ## Lint, type-check, build the book, compare the notebooks' outputs and run all tests
	$(MAKE) --jobs 3 --output-sync lint stored-book same
	$(TEST) tests

paper: $(INSTALLED) ## Build the part "The paper" with its index, and compare its notebooks' outputs
	@mkdir -p _build
	$(call CONFIGURE,"off") > _build/stored.yml
	printf '%s\n' 'format: jb-book' 'root: book/statements' 'chapters:' > _build/paper.yml
	printf '  - file: %s\n' $(PAPER) book/notation book/errata book/data book/bibliography >> _build/paper.yml
	$(BIN)/jupyter-book build . --quiet --path-output _build/paper --toc _build/paper.yml --config _build/stored.yml
	$(NBVAL) $(PAPER:=.ipynb)

same: $(INSTALLED) ## Compare all notebooks' outputs (COMPARE=--nbval-lax: run them alone)
	$(NBVAL) notebooks

few: ## Compare the paper's notebooks with few packages: the first in requirements.txt (needs a network)
	"$(PYTHON)" -m venv --clear _build/few
	$(FEW) -m pip install --quiet --disable-pip-version-check -c constraints.txt $(call PARAGRAPH,2) "$$(grep '^nbval==' requirements.txt)"
	$(FEW) -c 'import matplotlib.pyplot'
	$(FEW) -m pytest $(COMPARED) $(filter-out $(EXPERIMENTS),$(PAPER:=.ipynb))
	$(FEW) -m pip install --quiet --disable-pip-version-check -c constraints.txt $(call PARAGRAPH,3)
	$(FEW) -m pytest $(COMPARED) $(EXPERIMENTS)

evaluate: $(INSTALLED) ## Run the quick form of all claims on the paper, and print a table of them
	$(BIN)/python tools/evaluate.py

fuzz: $(INSTALLED) ## Give 100,000 changed files and messages to Python and the client; time draws by class
	$(BIN)/python tests/fuzz.py
	$(BIN)/python tests/timing.py

coverage: $(INSTALLED) ## Measure which lines of uldp/ the tests run
	$(BIN)/coverage run -m pytest tests
	$(BIN)/coverage report

accessibility: $(INSTALLED) stored-book ## Open the pages that make test leaves out in an accessibility checker, light and dark (needs Chromium)
	$(BIN)/pytest -n 2 -m accessibility tests/test_pages.py

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# The book with the outputs that the notebooks hold, which nbval then proves right.
stored-book: $(INSTALLED)
	@mkdir -p _build
	$(call CONFIGURE,"off") > _build/stored.yml
	$(BUILD_BOOK) --quiet --config _build/stored.yml

notebooks: $(INSTALLED) ## Run every notebook in place and store its outputs
	$(BIN)/python tools/execute_notebooks.py notebooks/*.ipynb

dist: ## Build wheel and sdist in _build/dist with nothing but a hashed list, and say their hashes (needs a network)
	rm -rf _build/dist
	"$(PYTHON)" -m venv --clear _build/builder
	_build/builder/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r tools/dist-requirements.txt
	_build/builder/bin/python -m hatchling build --directory _build/dist
	_build/builder/bin/python -m pip hash _build/dist/*

locked: ## Make .venv anew from hashed lists alone, as what is published is built (needs a network)
	"$(PYTHON)" -m venv --clear .venv
	$(INSTALL) --no-deps --only-binary :all: --require-hashes -r tools/book-requirements.txt
	$(INSTALL) --no-deps --no-build-isolation --no-index --editable .
	$(BIN)/python -c 'import matplotlib.pyplot'
	@touch $(INSTALLED)

alone: dist ## Run the README's lines with the wheel alone (needs a network)
	"$(PYTHON)" -m venv --clear _build/alone
	_build/alone/bin/python -m pip install --quiet --disable-pip-version-check _build/dist/*.whl
	cd _build && awk '/^```/ {on = 0} on; /^```python/ {on = 1}' ../README.md | alone/bin/python -

clean: ## Remove the built book and all caches (.venv stays)
	rm -rf _build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find book notebooks tests tools uldp -type d '(' -name __pycache__ -o -name .ipynb_checkpoints ')' -prune -exec rm -rf '{}' +

# uv takes a tenth of pip's time, but knows none of pip's settings: pip is asked where uv fails.
# Importing pyplot once builds Matplotlib's font cache, which would otherwise report itself in the
# first notebook that draws.
$(INSTALLED): requirements.txt constraints.txt pyproject.toml CITATION.cff
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11'; exit 1; }
	"$(PYTHON)" -m venv .venv
	$(INSTALL) "$$(grep '^uv==' requirements.txt)"
	$(BIN)/uv pip install --quiet --reinstall-package uldp --python $(BIN)/python -r requirements.txt || $(INSTALL) -r requirements.txt
	$(BIN)/python -c 'import matplotlib.pyplot'
	@touch $@
