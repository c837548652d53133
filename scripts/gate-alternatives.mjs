/**
 * The tests that the gate could have used instead, for scripts/gate-evidence.mjs. Each says whether the mean of paired
 * differences in [-1, 1] is shown to exceed `margin` at one-sided `alpha`.
 */

const sum = (values) => values.reduce((a, b) => a + b, 0)

/** Standard normal density, distribution and quantile; plain, accurate to 1e-12 for |z| < 6. */
const density = (z) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
function distribution(z) {
  let [term, total] = [z, z]
  for (let k = 3; total + term !== total; k += 2) total += term *= (z * z) / k
  return 0.5 + total * density(z)
}
function quantile(p) {
  let [low, high] = [-8, 8]
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2
    if (distribution(middle) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
/** density(quantile(p)) by interpolation. */
const HEIGHTS = Array.from({ length: 4002 }, (_, i) => (i < 1 || i > 3999 ? 0 : density(quantile(i / 4000))))
function height(p) {
  const i = Math.floor(4000 * p)
  return HEIGHTS[i] + (4000 * p - i) * (HEIGHTS[i + 1] - HEIGHTS[i])
}

const Z95 = quantile(0.95)
const zOf = (alpha) => (alpha === 0.05 ? Z95 : quantile(1 - alpha))

/** Student's paired t: asymptotic. Its critical value by the Cornish–Fisher expansion. */
export function studentT(differences, margin, alpha) {
  const n = differences.length
  const mean = sum(differences) / n
  const variance = sum(differences.map((d) => (d - mean) ** 2)) / (n - 1)
  const z = zOf(alpha)
  const critical = z + (z ** 3 + z) / (4 * (n - 1)) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * (n - 1) ** 2)
  return variance === 0 ? mean > margin : (mean - margin) / Math.sqrt(variance / n) > critical
}

/** Exact McNemar, one-sided: pass/fail scores and margin 0 only. */
export function mcnemar(differences, _margin, alpha) {
  const wins = differences.filter((d) => d > 0).length
  const discordant = differences.filter((d) => d !== 0).length
  let [term, p] = [0.5 ** discordant, 0]
  for (let k = discordant; k >= wins; k--) {
    p += term
    term *= k / (discordant - k + 1)
  }
  return p <= alpha
}

/** Tango's score test (1998) of a difference of paired proportions: asymptotic; pass/fail scores only. */
export function tango(differences, margin, alpha) {
  const n = differences.length
  const wins = differences.filter((d) => d > 0).length
  const losses = differences.filter((d) => d < 0).length
  const b = -wins - losses + (2 * n - wins + losses) * margin
  const c = -losses * margin * (1 - margin)
  const lossRate = (Math.sqrt(b * b - 8 * n * c) - b) / (4 * n)
  const variance = n * (2 * lossRate + margin * (1 - margin))
  return variance > 0 && (wins - losses - n * margin) / Math.sqrt(variance) > zOf(alpha)
}

const GRID = [0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.9]

/** Betting with a mixture over fixed bets, looked at after every task (Waudby-Smith & Ramdas 2024): exact. */
export function bettingMixture(differences, margin, alpha) {
  const wealth = GRID.map(() => 1 / GRID.length)
  for (const d of differences) {
    for (let i = 0; i < GRID.length; i++) wealth[i] *= 1 + (GRID[i] / (1 + margin)) * (d - margin)
    if (sum(wealth) >= 1 / alpha) return true
  }
  return false
}

/** Betting with the aGRAPA bets of Waudby-Smith & Ramdas (2024): exact. */
export function bettingAgrapa(differences, margin, alpha) {
  let [wealth, count, total, squares] = [1, 1, 0, 0.25]
  for (const d of differences) {
    const mean = total / count
    const edge = mean - margin
    const bet = Math.max(0, Math.min(0.75 / (1 + margin), edge / (squares / count - mean ** 2 + edge ** 2)))
    wealth *= 1 + bet * (d - margin)
    if (wealth >= 1 / alpha) return true
    count++
    total += d
    squares += d * d
  }
  return false
}

/**
 * Betting towards the goal 1/alpha by the last task: the hedge of a digital option (Browne 1999), with the spread
 * estimated from the past. Exact, and it hangs on the order of the tasks. `share` is alpha times the wealth.
 */
export function bettingDeadline(differences, margin, alpha) {
  let [share, count, squares] = [alpha, 4, 1]
  for (const [t, d] of differences.entries()) {
    const spread = Math.sqrt((squares / count) * (differences.length - t))
    const stake = height(share) / spread
    share += Math.min(stake, share / (1 + margin), (1 - share) / (1 - margin)) * (d - margin)
    if (share >= 1 - 1e-9) return true
    if (share < 1e-12) return false
    count++
    squares += (d - margin) ** 2
  }
  return false
}
