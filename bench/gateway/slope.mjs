// How fast something grows, and how sure that is.

/** Where draws begin: a run's figures are the same however often they are computed. */
const seed = 20_261_120
const draws = 2_000

/** The line of least squares through points. */
function lineThrough(xs, ys) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(xs), mean(ys)]
  let xy = 0
  let xx = 0
  for (const [i, value] of xs.entries()) {
    xy += (value - x) * (ys[i] - y)
    xx += (value - x) ** 2
  }
  const slope = xy / xx
  return { slope, at: (value) => y + slope * (value - x) }
}

/**
 * Growth of `ys` by `xs`, with a 95 % interval: residuals are drawn again in blocks, as neighbouring samples of memory are
 * alike.
 */
export function slopeOf(xs, ys) {
  const line = lineThrough(xs, ys)
  const residuals = ys.map((y, i) => y - line.at(xs[i]))
  const block = Math.max(2, Math.round(ys.length ** (1 / 2)))
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const slopes = Array.from({ length: draws }, () => {
    const drawn = []
    while (drawn.length < ys.length) {
      const from = Math.floor(random() * (residuals.length - block + 1))
      drawn.push(...residuals.slice(from, from + block))
    }
    return lineThrough(
      xs,
      xs.map((x, i) => line.at(x) + drawn[i]),
    ).slope
  }).sort((a, b) => a - b)
  return { slope: line.slope, low: slopes[Math.floor(draws * 0.025)], high: slopes[Math.floor(draws * 0.975)] }
}
