import { causedByPolicy, contentHash, type Reward, type Rubric } from '../core/index.ts'
import { RewardError } from './errors.ts'
import type { Guard } from './guards/index.ts'
import type { RewardPart } from './part.ts'
import { upTo } from './turns.ts'

/** What a rubric adds up. */
export interface RubricOptions {
  /** Looked at in order; the first that vetoes names the reason. */
  readonly guards?: readonly Guard[]
  /** What a broken, unfinished or vetoed episode earns; at most what any honest one can. Default 0. */
  readonly floor?: number
  /** The most an episode can earn; a higher sum is cut to it. Default 1. */
  readonly ceiling?: number
  /**
   * What an episode earns that was cut through no act of the policy. `missing`: nothing. `against`: a sum below 0, and
   * never one above: whoever breaks off escapes no bad mark, and nothing unfinished is a positive. Default `missing`.
   */
  readonly cut?: 'missing' | 'against'
}

type Scores = Readonly<Record<string, number | null>>

/**
 * The sum of its parts, as they stand at `asOf`. In order:
 * 1. one that a guard vetoes earns the floor (`vetoed`); of an episode that was cut through no act of the policy only
 *    guards speak whose verdict lasts;
 * 2. one that was cut so has no reward (`missing`), but for what speaks against it where `cut` is `against`;
 * 3. one that the policy did not bring to its end (a budget spent, calls that failed) earns the floor;
 * 4. else the parts are added, and the sum is kept between floor and ceiling; where a part that is needed says nothing,
 *    or there is evidence and none of it says anything, the reward is `missing`. A guess that gives way to what was told
 *    is not among the reward's parts.
 * @throws RewardError for a rubric without parts, a floor above the ceiling, and, when it scores, for a part that is
 * neither a finite number nor `null`.
 */
export function rubric(
  parts: Readonly<Record<string, RewardPart>>,
  { guards = [], floor = 0, ceiling = 1, cut = 'missing' }: RubricOptions = {},
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
  const identity = entries.map(([name, { identity: own, evidence = 'needed' }]) => [name, own, evidence])
  const hash = contentHash({ parts: identity, guards: guards.map((guard) => guard.identity), floor, ceiling, cut })
  const clamp = (sum: number) => Math.min(ceiling, Math.max(floor, sum))

  const scoresOf = async (...seen: Parameters<RewardPart['score']>): Promise<Scores> => {
    const scores: Record<string, number | null> = {}
    for (const [name, part] of entries) {
      const score = await part.score(...seen)
      if (score !== null && !Number.isFinite(score)) throw notFinite(name, score)
      scores[name] = score
    }
    return scores
  }

  return {
    name: entries.map(([name]) => name).join('+'),
    hash,
    floor,
    ceiling,
    async score(whole, signals, asOf): Promise<Reward> {
      const trajectory = upTo(whole, asOf)
      const inTime = signals.filter(({ at, trajectory: of }) => at <= asOf && of === trajectory.id)
      const own = causedByPolicy(trajectory.stopReason)
      const verdict = vetoOf(own ? guards : guards.filter(({ lasting }) => lasting), trajectory)
      if (!own && verdict === null && cut === 'missing') {
        return { status: 'missing', value: null, parts: {}, reason: endOf(trajectory) }
      }

      const scores = await scoresOf(trajectory, inTime, asOf)
      if (verdict) return { status: 'vetoed', value: floor, parts: scores, ...verdict }
      if (own && trajectory.stopReason !== 'done') return { status: 'scored', value: floor, parts: scores }

      const { counted, silent } = counting(entries, scores)
      const sum = total(counted)
      if (!own && (silent !== null || sum >= 0)) {
        return { status: 'missing', value: null, parts: counted, reason: endOf(trajectory) }
      }
      if (silent !== null) return { status: 'missing', value: null, parts: counted, reason: silent }
      return { status: 'scored', value: clamp(sum), parts: counted }
    },
    chargedFor(choice, { stopReason }, { status, parts: scores }) {
      // What ended otherwise earned the floor, or nothing: no price moved that.
      if (status !== 'scored' || (causedByPolicy(stopReason) && stopReason !== 'done')) return 0
      const price = entries.reduce(
        (sum, [name, { charges }]) => sum + (charges === choice ? (scores[name] ?? 0) : 0),
        0,
      )
      const sum = total(scores)
      return clamp(sum - price) - clamp(sum)
    },
  }
}

const total = (scores: Scores): number => Object.values(scores).reduce<number>((sum, score) => sum + (score ?? 0), 0)

function vetoOf(guards: readonly Guard[], trajectory: Parameters<Guard['inspect']>[0]) {
  for (const guard of guards) {
    const reason = guard.inspect(trajectory)
    if (reason) return { guard: guard.name, reason }
  }
  return null
}

const endOf = ({ failure, stopReason }: Parameters<Guard['inspect']>[0]): string => failure?.message ?? stopReason

/** The parts that make up the sum, and why there can be none. */
function counting(
  entries: readonly (readonly [string, RewardPart])[],
  scores: Scores,
): { readonly counted: Record<string, number | null>; readonly silent: string | null } {
  const speaks = (kind: RewardPart['evidence']) =>
    entries.some(([name, { evidence }]) => evidence === kind && scores[name] !== null)
  const told = speaks('told')
  const counts = entries.filter(([, { evidence }]) => evidence !== 'guessed' || !told)
  const counted = Object.fromEntries(counts.map(([name]) => [name, scores[name] ?? null]))
  const needed = counts.find(([name, { evidence }]) => evidence === undefined && counted[name] === null)
  const evidence = counts.flatMap(([name, part]) => (part.evidence === undefined ? [] : [name]))
  const lacks = needed?.[0] ?? (evidence.length > 0 && !told && !speaks('guessed') ? evidence.join(' or ') : null)
  return { counted, silent: lacks === null ? null : `no evidence for ${lacks}` }
}

const notFinite = (part: string, score: number) =>
  new RewardError({
    code: 'reward/not-finite',
    message: `The rubric's part "${part}" scored ${score}.`,
    hint: 'Return null where the evidence is missing, and a finite number otherwise.',
  })
