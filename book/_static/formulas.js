// The Tab key stops at a formula if it scrolls, as the theme does it for code and tables.
const markStops = () => {
  for (const formula of document.querySelectorAll("div.math mjx-container"))
    formula.tabIndex = formula.scrollWidth > formula.clientWidth ? 0 : -1
}
addEventListener("load", () => window.MathJax?.startup?.promise.then(markStops))
addEventListener("resize", markStops)
