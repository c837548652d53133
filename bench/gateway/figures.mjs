// Quantiles and spreads, as the tables print them.

/** @param sorted ascending. */
export const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]

/** p50, p99 and the greatest of any array of numbers. */
export function quantiles(values) {
  const sorted = Float64Array.from(values).sort()
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), most: sorted.at(-1) }
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2
}

/** The median and, in brackets, the least and the greatest. */
export function spread(values, digits = 2) {
  if (values.length === 0) return '–'
  const show = (value) => value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

/** Prints the head of a table; `row` prints one more line of it. */
export function openTable(columns) {
  const row = (cells) => console.log(`| ${cells.join(' | ')} |`)
  row(columns)
  row(columns.map(() => '---'))
  return { row }
}

export function table(columns, rows) {
  const opened = openTable(columns)
  for (const cells of rows) opened.row(cells)
}
