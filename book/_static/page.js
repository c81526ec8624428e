// The menu shows the current chapter, after the theme has restored the place where it was.
addEventListener("load", () => setTimeout(() => {
  const menu = document.querySelector(".bd-sidebar-primary")
  const current = menu?.querySelector(".current.active")?.getBoundingClientRect()
  if (current) menu.scrollTop += current.top - menu.clientHeight / 2
}))

// One button opens or hides all code of a page.
const folds = [...document.querySelectorAll("details.hide")]
if (folds.length) {
  const button = document.createElement("button")
  button.className = "btn btn-sm code-switch"
  button.title = "Show or hide all code"
  button.setAttribute("aria-pressed", "false")
  button.textContent = "code"
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-pressed") === "false"
    button.setAttribute("aria-pressed", String(isOpen))
    for (const fold of folds) fold.open = isOpen
  })
  document.querySelector(".article-header-buttons")?.prepend(button)
}
