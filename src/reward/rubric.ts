import { causedByPolicy, contentHash, type Reward, type Rubric } from '../core/index.ts'
import type { Guard } from './guards.ts'
import { RewardError } from './errors.ts'
import type { RewardPart } from './part.ts'

/** What a rubric adds up. */
export interface RubricOptions {
  /** Looked at in order; the first that vetoes names the reason. */
  readonly guards?: readonly Guard[]
  /** What a broken, unfinished or vetoed episode earns; at most what any honest one can. Default 0. */
  readonly floor?: number
  /** The most an episode can earn; a higher sum is cut to it. Default 1. */
  readonly ceiling?: number
}

/**
 * The sum of its parts. In order:
 * 1. an episode that ended through no act of the policy, or whose evidence is missing, has no reward (`missing`);
 * 2. one that a guard vetoes earns the floor (`vetoed`);
 * 3. one that the policy did not bring to its end (a budget spent, calls that failed) earns the floor;
 * 4. else the parts are added, and the sum is kept between floor and ceiling.
 * @throws RewardError for a rubric without parts.
 */
export function rubric(
  parts: Readonly<Record<string, RewardPart>>,
  { guards = [], floor = 0, ceiling = 1 }: RubricOptions = {},
): Rubric {
  const entries = Object.entries(parts)
  if (entries.length === 0) {
    throw new RewardError({
      code: 'reward/empty-rubric',
      message: 'A rubric needs at least one part.',
      hint: 'For example rubric({ solved: verifier(check) }).',
    })
  }
  const identity = entries.map(([name, part]) => [name, part.identity])
  const hash = contentHash({ parts: identity, guards: guards.map((guard) => guard.name), floor, ceiling })

  return {
    name: entries.map(([name]) => name).join('+'),
    hash,
    floor,
    ceiling,
    async score(trajectory, signals, asOf): Promise<Reward> {
      const inTime = signals.filter((signal) => signal.at <= asOf)
      if (!causedByPolicy(trajectory.stopReason)) {
        const reason = trajectory.failure?.message ?? trajectory.stopReason
        return { status: 'missing', value: null, parts: {}, reason }
      }
      const scores: Record<string, number | null> = {}
      for (const [name, part] of entries) scores[name] = await part.score(trajectory, inTime)

      for (const guard of guards) {
        const reason = guard.inspect(trajectory)
        if (reason) return { status: 'vetoed', value: floor, parts: scores, guard: guard.name, reason }
      }
      if (trajectory.stopReason !== 'done') return { status: 'scored', value: floor, parts: scores }

      let sum = 0
      for (const [name, score] of Object.entries(scores)) {
        if (score === null) return { status: 'missing', value: null, parts: scores, reason: `no evidence for ${name}` }
        sum += score
      }
      return { status: 'scored', value: Math.min(ceiling, Math.max(floor, sum)), parts: scores }
    },
  }
}
