// What scripts that print evidence share.

export const percent = (share) => `${(100 * share).toFixed(1)} %`
export const times = (count, make) => Array.from({ length: count }, (_, i) => make(i))

/** Prints a table in Markdown under its title. */
export function table(title, columns, rows) {
  console.log(`\n### ${title}\n`)
  console.log(`| ${columns.join(' | ')} |\n|${columns.map(() => '---').join('|')}|`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

/** The largest count that `n` draws at `probability` exceed with probability at most 0.001. */
export function binomialBound(n, probability) {
  let [term, total, k] = [(1 - probability) ** n, 0, 0]
  for (; total + term < 0.999; k++) {
    total += term
    term *= ((n - k) / (k + 1)) * (probability / (1 - probability))
  }
  return k
}
