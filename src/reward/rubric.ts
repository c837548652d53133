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
 * @throws RewardError for a rubric without parts, a floor above the ceiling, and, when it scores, for a part that is
 * neither a finite number nor `null`.
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
  if (!(floor <= ceiling)) {
    throw new RewardError({
      code: 'reward/bad-range',
      message: `The rubric's floor is ${floor} and its ceiling ${ceiling}.`,
      hint: 'Make the ceiling the most an episode can earn, and the floor what a broken one earns.',
    })
  }
  const identity = entries.map(([name, part]) => [name, part.identity])
  const hash = contentHash({ parts: identity, guards: guards.map((guard) => guard.identity), floor, ceiling })

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
      for (const [name, part] of entries) {
        const score = await part.score(trajectory, inTime)
        if (score !== null && !Number.isFinite(score)) throw notFinite(name, score)
        scores[name] = score
      }

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

const notFinite = (part: string, score: number) =>
  new RewardError({
    code: 'reward/not-finite',
    message: `The rubric's part "${part}" scored ${score}.`,
    hint: 'Return null where the evidence is missing, and a finite number otherwise.',
  })
