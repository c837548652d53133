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
  const logOf = (k: number) => logFactorial[k] as number
  // 0 · log 0 is 0 here: what never happens, happens 0 times for sure.
  const logTerms = (probability: number) => {
    const log = Math.log(Math.max(probability, 0))
    return Float64Array.from({ length: tasks + 1 }, (_, k) => (k === 0 ? 0 : k * log) - logOf(k))
  }
  const [won, lost, tied] = [logTerms(wins), logTerms(losses), logTerms(1 - wins - losses)]
  let total = 0
  for (const [l, enough] of critical.entries()) {
    for (let w = enough; w + l <= tasks; w++) {
      const logTerm = (won[w] as number) + (lost[l] as number) + (tied[tasks - w - l] as number)
      total += Math.exp(logOf(tasks) + logTerm)
    }
  }
  return total
}

function pValue(wins: number, losses: number, tasks: number, margin: number): number {
  const differences = Array.from({ length: tasks }, (_, i) => (i < wins ? 1 : i < wins + losses ? -1 : 0))
  return meanAbove(differences, -1, margin)
}
