/** Features of windows with nothing learned from who acted: means, products, and their first principal components. */

const meansOf = (rows) => rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length)

/** Subtracts means and divides by deviations, both of the given rows. */
export function scaler(rows) {
  const middle = meansOf(rows)
  const scale = meansOf(rows.map((row) => row.map((x, j) => (x - middle[j]) ** 2))).map((v) => Math.sqrt(v) || 1)
  return (row) => row.map((x, j) => (x - middle[j]) / scale[j])
}

/** The mean of the steps. */
export const raw = (window) => meansOf(window)

/** The mean of the steps, and of each product of two of their numbers. */
export function products(window) {
  const pairs = window.map((step) => step.flatMap((x, i) => step.slice(i).map((y) => x * y)))
  return [...meansOf(window), ...meansOf(pairs)]
}

/** Projects on the first principal components of rows that are scaled already, each divided by its deviation. */
export function principal(rows, count, random) {
  const width = rows[0].length
  const found = []
  for (let k = 0; k < Math.min(count, width); k++) {
    let axis = Array.from({ length: width }, () => random.next() - 0.5)
    let length = 0
    for (let turn = 0; turn < 30; turn++) {
      const next = Array.from({ length: width }, () => 0)
      for (const row of rows) {
        const along = row.reduce((sum, x, j) => sum + x * axis[j], 0) / rows.length
        for (const [j, x] of row.entries()) next[j] += along * x
      }
      for (const { axis: other } of found) {
        const along = next.reduce((sum, x, j) => sum + x * other[j], 0)
        for (const [j, x] of other.entries()) next[j] -= along * x
      }
      length = Math.hypot(...next)
      axis = next.map((x) => x / (length || 1))
    }
    found.push({ axis, deviation: Math.sqrt(length) || 1 })
  }
  return (row) => found.map(({ axis, deviation }) => row.reduce((sum, x, j) => sum + x * axis[j], 0) / deviation)
}
