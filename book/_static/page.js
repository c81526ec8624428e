// The menu shows the current chapter, after the theme has restored the place where it was or, on a
// phone, has opened it.
const showCurrent = () => setTimeout(() => {
  const current = document.querySelector(".bd-sidebar-primary .current.active")
  const list = current?.closest(".sidebar-primary-item")
  if (!list) return
  const from = list.getBoundingClientRect().top + list.clientHeight / 2
  list.scrollTop += current.getBoundingClientRect().top - from
})
addEventListener("load", showCurrent)
document.querySelector(".primary-toggle")?.addEventListener("click", showCurrent)

// Paper is white.
const { dataset } = document.documentElement
addEventListener("beforeprint", () => {
  dataset.onScreen = dataset.theme
  dataset.theme = "light"
})
addEventListener("afterprint", () => { dataset.theme = dataset.onScreen })

// One button opens or hides all code of a page.
const switchCode = (button) => {
  const isOpen = button.getAttribute("aria-pressed") === "false"
  button.setAttribute("aria-pressed", String(isOpen))
  for (const fold of document.querySelectorAll("details.hide")) fold.open = isOpen
}
document.querySelector(".btn-code-switch")?.setAttribute("aria-pressed", "false")

// Formulas are set when the letters have come that they are as high as.
if (window.MathJax) {
  const pageReady = async () => {
    await document.fonts.ready
    return window.MathJax.startup.defaultPageReady()
  }
  window.MathJax.startup = { ...window.MathJax.startup, pageReady }
}

// A citation shows what it cites, to a pointer, to the keys and to a first touch.
for (const link of document.querySelectorAll(".bibtex-citation a[title]")) {
  const work = document.createElement("span")
  work.className = "cited"
  work.textContent = link.title
  link.removeAttribute("title")
  link.after(work)
  let wasOpen = false
  link.addEventListener("keydown", (event) => { if (event.key === "Escape") link.blur() })
  link.addEventListener("pointerdown", () => { wasOpen = link === document.activeElement })
  link.addEventListener("click", (event) => {
    if (event.pointerType !== "touch" || wasOpen) return
    event.preventDefault()
    link.focus()
  })
}

// What a search shows of a page is its text, without code, formulas and letters of drawings.
if (typeof Search !== "undefined") {
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html")
    const part = page.getElementById(anchor?.slice(1)) ?? page.querySelector("article")
    for (const e of part.querySelectorAll("script, pre, details, svg, .headerlink, .label")) e.remove()
    for (const formula of part.querySelectorAll(".math")) formula.replaceWith("…")
    return part.textContent
  }
}

// The Tab key stops at a formula if it scrolls, as the theme does it for code and tables.
const markStops = () => {
  for (const formula of document.querySelectorAll("div.math mjx-container"))
    formula.tabIndex = formula.scrollWidth > formula.clientWidth ? 0 : -1
  for (const table of document.querySelectorAll(".pst-scrollable-table-container"))
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0 // formulas may have widened it
}
addEventListener("load", () => window.MathJax?.startup?.promise.then(markStops))
addEventListener("resize", markStops)
