import { meanAbove } from './bounded-mean.ts'

/**
 * What it takes to promote with pass/fail scores: element l is the smallest number of wins (tasks that only the
 * candidate passes) that shows a difference above `margin` at `alpha` when there are l losses (tasks that only the
 * baseline passes). Ends where no number of wins is enough.
 */
export function criticalWins(tasks: number, margin: number, alpha: number): readonly number[] {
  const critical: number[] = []
  let wins = 0
  for (let losses = 0; losses <= tasks; losses++) {
    while (wins + losses <= tasks && pValue(wins, losses, tasks, margin) > alpha) wins++
    if (wins + losses > tasks) break
    critical.push(wins)
  }
  return critical
}

/**
 * Exact probability that `tasks` pass/fail outcomes are promoted, summed over all of them, where the candidate alone
 * passes a task with probability `wins` and the baseline alone with probability `losses`. With wins − losses at the
 * margin it is the size of the test, above it its power: it says how many tasks to hold out.
 */
export function promotionProbability(
  critical: readonly number[],
  { tasks, wins, losses }: { readonly tasks: number; readonly wins: number; readonly losses: number },
): number {
  const logFactorial = new Float64Array(tasks + 1)
  for (let k = 2; k <= tasks; k++) logFactorial[k] = (logFactorial[k - 1] as number) + Math.log(k)
  const logPower = (probability: number, count: number) => (count === 0 ? 0 : count * Math.log(probability))
  const ties = Math.max(1 - wins - losses, 0)
  let total = 0
  for (const [l, enough] of critical.entries()) {
    for (let w = enough; w + l <= tasks; w++) {
      const t = tasks - w - l
      const ways = [w, l, t].reduce(
        (log, count) => log - (logFactorial[count] as number),
        logFactorial[tasks] as number,
      )
      total += Math.exp(ways + logPower(wins, w) + logPower(losses, l) + logPower(ties, t))
    }
  }
  return total
}

function pValue(wins: number, losses: number, tasks: number, margin: number): number {
  const differences = Array.from({ length: tasks }, (_, i) => (i < wins ? 1 : i < wins + losses ? -1 : 0))
  return meanAbove(differences, -1, margin)
}
