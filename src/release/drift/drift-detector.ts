import { z } from 'zod'
import { rng } from '../../core/index.ts'
import { type Change, changeIn, NO_VALUES, RecentValues, withValue } from './recent-values.ts'
import { conformalPValue, counted } from './score-counts.ts'

/**
 * Bets against the uniformity of p-values, each of mean 1 on (0, 1): three that small p-values are somewhat more frequent,
 * one that very small ones are.
 */
const BETS: readonly ((p: number) => number)[] = [
  (p) => 1 + 0.6 * (0.5 - p),
  (p) => 1 + 1.2 * (0.5 - p),
  (p) => 1 + 1.9 * (0.5 - p),
  (p) => 0.6 * p ** -0.4,
]

export interface DriftStream {
  /** What is watched: keys the randomness, and names the alarm. */
  readonly name: string
  /** Which change is alarming. */
  readonly direction: 'rise' | 'drop'
  /** Mean number of sessions between false alarms, at least. */
  readonly sessionsBetweenFalseAlarms: number
  /** Values are told apart to this. */
  readonly resolution: number
  readonly seed: number
}

/** All that a detector remembers: JSON, to go on after a restart as if there had been none. */
export const DriftState = z.strictObject({
  /** Sessions ever seen: the position in the stream of random ties. */
  seen: z.int().nonnegative(),
  /** Scores since the reference began, with how often each was seen; rising. */
  counts: z.array(z.tuple([z.number(), z.int().positive()]).readonly()).readonly(),
  /** Shiryaev and Roberts' statistic of each bet. */
  statistics: z.array(z.number().nonnegative()).length(BETS.length).readonly(),
  /** Values, to say since when. */
  values: RecentValues,
})
export type DriftState = z.infer<typeof DriftState>

/** Something changed. */
export interface Drift extends Change {
  readonly name: string
  readonly direction: 'rise' | 'drop'
  readonly at: number
}

/** The state of a detector that has seen nothing. */
export const NOTHING_SEEN: DriftState = { seen: 0, counts: [], statistics: BETS.map(() => 0), values: NO_VALUES }

/**
 * Watches a stream of numbers for a lasting change of their law in one direction. Pure: a state and a value give a state,
 * and a drift where there is one; the reference then begins anew with what is normal now.
 *
 * A value becomes a conformal p-value among all since the reference began ({@link conformalPValue}); bets against their
 * uniformity are e-values e_n, and Shiryaev and Roberts' procedure adds up the evidence for a change at every past
 * session: R_n = (1 + R_{n−1})·e_n, alarm at R_n ≥ 1/α, with R the mean over the bets.
 *
 * **False alarms.** If the values are exchangeable, R_n − n is a martingale, so the mean number of sessions to the first
 * alarm is at least 1/α, whatever the values' law: E[T] = E[R_T] ≥ 1/α. After an alarm the same holds anew. It is a mean:
 * about one stream in ten alarms within the first tenth of it.
 *
 * **What it does not see.** A change that comes so slowly that the reference takes it up, and one before the reference
 * has some dozens of sessions. The time since when is an estimate ({@link changeIn}).
 *
 * Sources: Vovk, Petej, Nouretdinov, Ahlberg, Carlsson & Gammerman 2021, "Retrain or not retrain: conformal test
 * martingales for change-point detection"; Vovk 2021, "Testing randomness online". The bets were chosen by simulation:
 * docs/evidence.md.
 * @param at when the session was, in milliseconds since the epoch.
 */
export function watchFor(
  stream: DriftStream,
  state: DriftState,
  value: number,
  at: number,
): { readonly state: DriftState; readonly drift: Drift | null } {
  const steps = Math.round(value / stream.resolution)
  // Plus 0: JSON knows no −0.
  const score = (stream.direction === 'rise' ? steps : -steps) + 0
  const counts = counted(state.counts, score)
  const tie = 1 - rng('drift', stream.name, stream.seed, state.seen).next()
  const p = conformalPValue(counts, score, tie)
  const statistics = state.statistics.map((r, j) => (1 + r) * (BETS[j]?.(p) ?? 1))
  const values = withValue(state.values, value, at)
  const seen = state.seen + 1
  const evidence = statistics.reduce((sum, r) => sum + r, 0) / BETS.length
  if (evidence < stream.sessionsBetweenFalseAlarms) return { state: { seen, counts, statistics, values }, drift: null }
  const { name, direction } = stream
  return { state: { ...NOTHING_SEEN, seen }, drift: { name, direction, ...changeIn(values, direction), at } }
}
