const number = (text) => Number(text.replaceAll(",", ""))
const all = table.data
const k = number(values.value)
const s = Math.min(number(sensitive.value), k)
const n = number(users.value)
const start = all.sensitive.indexOf(s, all.values.indexOf(k))
const divisors = {TV: Math.sqrt(n), MSE: n}
const data = {epsilon: shown.data.epsilon}
for (const name of Object.keys(shown.data).filter((name) => name != "epsilon")) {
  const divisor = divisors[name.split(" ")[0]]
  data[name] = all[name].slice(start, start + data.epsilon.length).map((loss) => loss / divisor)
}
shown.data = data
chosen.location = number(epsilon.value)

const at = data.epsilon.indexOf(chosen.location)
const limit = data["MSE limit"][at]
const written = (x) => (x < 1e-3 || x >= 1e6 ? x.toExponential(2) : x.toPrecision(3))
const cells = (name) =>
  [data[`TV ${name}`][at], data[`MSE ${name}`][at], data[`MSE ${name}`][at] / limit]
    .map((loss) => `<td>${written(loss)}</td>`)
const head = (text) => (text ? `<th scope="col">${text}</th>` : "<td></td>")
const body = rows.map((name) => `<tr><th scope="row">${name}</th>${cells(name).join("")}</tr>`)
numbers.text = `<table>
<caption>ε = ${epsilon.value}, ${s} of ${k} answers sensitive, ${users.value} people.
Limit of the MSE: ${written(limit)}</caption>
<thead><tr>${["", "TV", "MSE", "MSE/limit"].map(head).join("")}</tr></thead>
<tbody>${body.join("")}</tbody></table>`
