"""The companion of the paper: its data, its experiments and figures, and what only they need.

`datasets` has the data, `experiments` what Section 6 measures (with the extra "experiments"),
`figures` the pictures of the book (with the extra "figures"); `regimes` are Tables 3 and 4, and
`garbling` and `optimal_theta` belong to chapters beyond the paper.
"""
