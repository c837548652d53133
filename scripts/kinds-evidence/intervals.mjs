/** 97.5 % quantiles of Student's t by degrees of freedom; from 30 on the normal one is near enough. */
const quantiles = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045,
]

/** The mean of one number a seed, and its 95 % interval (Student's t over seeds). */
export function interval(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
  const half = ((quantiles[values.length - 2] ?? 1.96) * deviation) / Math.sqrt(values.length)
  return { mean, low: mean - half, high: mean + half }
}

const points = (value) => (100 * value).toFixed(1)

/** As a cell of a table, in per cent. */
export const shown = (values) => {
  const { mean, low, high } = interval(values)
  return `${points(mean)} [${points(low)}, ${points(high)}]`
}

/** Prints a table: what each arm earned before and after on average, and the difference. An arm is a run of one seed. */
export async function compare(arms, seeds) {
  console.log('| arm | before | after, as served | difference |\n|---|---|---|---|')
  for (const [name, arm] of Object.entries(arms)) {
    const results = []
    for (const seed of seeds) results.push(await arm(seed))
    const cells = [({ before }) => before, ({ after }) => after, ({ before, after }) => after - before]
    console.log(`| ${name} | ${cells.map((of) => shown(results.map(of))).join(' | ')} |`)
  }
}
