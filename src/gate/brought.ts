import { z } from 'zod'
import { type PairedOutcome, ParameterKind, ParameterName } from '../core/index.ts'
import { compareScores } from './comparison.ts'
import { boundsOfMean } from './interval.ts'
import type { RewardRange } from './reward-range.ts'

/**
 * What one Parameter of a candidate brought: the candidate, against itself with that Parameter put back to what served, on the
 * same tasks (leave-one-out). What several bring together can be more or less than the sum of these.
 */
export const Brought = z.strictObject({
  parameter: ParameterName,
  kind: ParameterKind,
  /** Mean reward with what it learned, less that without, over the tasks with a score of both; `null` where there is none. */
  difference: z.number().nullable(),
  /** 95 % interval of it, whatever the missing scores would have been. */
  ci: z.tuple([z.number(), z.number()]).readonly(),
  /** Tasks with a score of both. */
  n: z.int().nonnegative(),
  /**
   * - `helps`, `hurts`: the interval lies above 0, or below.
   * - `no-loss`: the interval says that not even {@link noLoss} of the range of rewards is lost without it, so that it can be
   *   retired: others have absorbed what it brought. It is no evidence to retire it by: that is a run of its own (`retire`).
   * - `unclear`: none of these is shown.
   */
  verdict: z.enum(['helps', 'hurts', 'no-loss', 'unclear']),
})
export type Brought = Readonly<z.infer<typeof Brought>>

/** The share of the range of rewards up to which a loss counts as none. */
export const noLoss = 0.05

/**
 * Works out what a Parameter brought.
 * @param outcomes the candidate as it is as the `candidate` of each pair, without what the Parameter learned as the `baseline`.
 * @throws GateError without outcomes, and for a score out of the range.
 */
export function broughtBy(
  { parameter, kind }: Pick<Brought, 'parameter' | 'kind'>,
  outcomes: readonly PairedOutcome[],
  range: RewardRange,
): Brought {
  const { low, high, span, means, tasks, coverage } = compareScores(outcomes, range)
  const ci = boundsOfMean({ low, high }, span, 0.025)
  const difference = means && means.candidate - means.baseline
  return { parameter, kind, difference, ci, n: Math.round(coverage * tasks), verdict: verdictOn(ci, span) }
}

function verdictOn([low, high]: Brought['ci'], span: number): Brought['verdict'] {
  if (low > 0) return 'helps'
  if (high < 0) return 'hurts'
  return high <= noLoss * span ? 'no-loss' : 'unclear'
}

/** What is said of it, in one sentence. */
export function broughtInWords({ parameter, difference, ci, n, verdict }: Brought): string {
  const signed = (value: number) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
  const told = difference === null ? 'nothing that was scored' : signed(difference)
  return `"${parameter}" brought ${told} [${signed(ci[0])}, ${signed(ci[1])}] on ${n} tasks: ${verdictInWords[verdict]}.`
}

export const verdictInWords: Readonly<Record<Brought['verdict'], string>> = {
  helps: 'it helps',
  hurts: 'it hurts: the rest does better without it',
  'no-loss': 'nothing is lost without it, so retire it',
  unclear: 'whether it helps is not shown',
}
