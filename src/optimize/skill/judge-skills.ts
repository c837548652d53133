import {
  inScope,
  type Moments,
  mostRules,
  type NegativeRule,
  noMoments,
  scopeLike,
  type Skill,
  varianceOfMean,
  withOne,
} from '../../agent/index.ts'
import type { Likeness } from './likeness.ts'
import type { Observation } from './observe.ts'
import type { Shelf } from './shelf.ts'

/** What skills are judged by. */
export interface Judging {
  /** Milliseconds after which a rule ends. */
  readonly ruleFor: number
  /** Learned skills at most. */
  readonly capacity: number
  /** What a thousand tokens in the prompt must bring, in the unit of signals. */
  readonly tokenPrice: number
}

/** Standard errors of a bound: it errs once in 200 looks. */
const deviations = 2.58
/** Episodes of each side that a comparison needs. */
const fewest = 4
/** Trials that decide over a rule. */
const trials = 4
/** Episodes after which a skill must have shown something. */
const enough = { toCall: 40, toPay: 20 }
/** Tasks that a rule's scope is sought among: the last at which a skill did badly. */
const mostScopes = 8

/** How much better episodes went with a skill than without: bounds; `null` where either side is too small to say. */
export function upliftOf(offered: Moments, leftOut: Moments): { readonly low: number; readonly high: number } | null {
  if (offered.count < fewest || leftOut.count < fewest) return null
  const difference = offered.mean - leftOut.mean
  const error = deviations * Math.sqrt(varianceOfMean(offered) + varianceOfMean(leftOut))
  return { low: difference - error, high: difference + error }
}

/** What became of rules and skills in one update. */
export type Judged = Record<'barred' | 'lifted' | 'expired' | 'pruned' | 'evicted', number>

/**
 * Rules and removals, by bounds. A learned skill with which episodes go worse is barred by a rule: everywhere, or for tasks like
 * some. Trials lift the rule, or confirm it; the skill of a rule that holds everywhere is then removed. What brings less than
 * its rent is removed, and what is never called. What people made is left alone.
 * @param at milliseconds since the epoch.
 */
export async function judged(
  shelf: Shelf,
  observations: readonly Observation[],
  { at, likeness, ruleFor, capacity, tokenPrice }: Judging & { readonly at: number; readonly likeness: Likeness },
): Promise<Judged> {
  const counts: Judged = { barred: 0, lifted: 0, expired: 0, pruned: 0, evicted: 0 }
  settle(shelf, at, counts)
  for (const skill of shelf.learned) {
    if (shelf.rules.some((rule) => rule.skill === skill.id)) continue
    const own = observations.filter((one) => one.skill === skill.id)
    const rule = await ruleFrom(skill, own, shelf, likeness)
    const needless = rule === null ? needlessness(skill, shelf, tokenPrice) : null
    if (rule === null && needless === null) continue
    const made = rule ?? { scope: null, atLeast: 0, because: needless ?? 'unused', derivedFrom: [] }
    bar(shelf, skill, made, { at, ruleFor })
    if (rule === null) {
      shelf.remove(skill.id)
      counts.pruned++
    } else counts.barred++
  }
  for (const { id } of byWorth(shelf).slice(capacity)) {
    shelf.remove(id)
    counts.evicted++
  }
  return counts
}

/** Ends the rules whose time has come, whichever way. */
function settle(shelf: Shelf, at: number, counts: Judged): void {
  const left: NegativeRule[] = []
  for (const rule of shelf.rules) {
    const { skill, scope, seen, falsifier, expires } = rule
    const decided = seen.count >= falsifier.trials
    if (at >= expires || (decided && seen.mean >= falsifier.atLeast)) {
      counts[at >= expires ? 'expired' : 'lifted']++
      // It is judged anew by what comes: what it was barred for would bar it at once.
      shelf.startAnew(skill)
      continue
    }
    if (decided && scope === null && shelf.get(skill)) {
      shelf.remove(skill)
      counts.pruned++
    }
    left.push(decided ? { ...rule, seen: noMoments } : rule)
  }
  shelf.rules = left
}

type Grounds = Pick<NegativeRule, 'scope' | 'because' | 'derivedFrom'> & { readonly atLeast: number }

/** A rule against a skill, where its bound says that episodes go worse with it: on the whole, or at tasks like some. */
async function ruleFrom(
  { id }: Skill,
  own: readonly Observation[],
  shelf: Shelf,
  likeness: Likeness,
): Promise<Grounds | null> {
  const { offered, leftOut } = shelf.countsOf(id)
  if (isHarm(offered, leftOut)) return { scope: null, because: 'harm', atLeast: leftOut.mean, derivedFrom: [] }
  const bad = own.filter((one) => one.offered && one.signal < 0).slice(-mostScopes)
  const cues = [...new Set(own.map(({ cue }) => cue))]
  for (const { cue, derivedFrom } of bad) {
    const scope = scopeLike(cue)
    const near = await likeness.to(scope, cues)
    const there = own.filter((one) => inScope({ scope: one.cue }, near))
    const sides = [true, false].map((side) =>
      there.filter((one) => one.offered === side).reduce((sum, { signal }) => withOne(sum, signal), noMoments),
    )
    const [withIt = noMoments, without = noMoments] = sides
    if (isHarm(withIt, without)) return { scope, because: 'harm', atLeast: without.mean, derivedFrom }
  }
  return null
}

const isHarm = (offered: Moments, leftOut: Moments) => (upliftOf(offered, leftOut)?.high ?? 0) < 0

/** Why a skill is not worth its place in the prompt; `null`: it may be. */
function needlessness({ id, rent }: Skill, shelf: Shelf, tokenPrice: number): 'unused' | 'rent' | null {
  const { offered, leftOut, called } = shelf.countsOf(id)
  if (offered.count >= enough.toCall && called.count === 0) return 'unused'
  if (Math.min(offered.count, leftOut.count) < enough.toPay) return null
  const uplift = upliftOf(offered, leftOut)
  return uplift !== null && uplift.high < (tokenPrice * rent) / 1_000 ? 'rent' : null
}

function bar(
  shelf: Shelf,
  { id, name }: Skill,
  { atLeast, ...grounds }: Grounds,
  { at, ruleFor }: { readonly at: number; readonly ruleFor: number },
): void {
  const rule: NegativeRule = {
    ...grounds,
    derivedFrom: [...grounds.derivedFrom],
    skill: id,
    name,
    falsifier: { trials, atLeast },
    seen: noMoments,
    from: at,
    expires: at + ruleFor,
  }
  shelf.rules = [...shelf.rules, rule].slice(-mostRules)
}

/** Learned skills, those first that are worth the most; barred ones last. */
function byWorth(shelf: Shelf): readonly Skill[] {
  const barred = new Set(shelf.rules.filter(({ scope }) => scope === null).map(({ skill }) => skill))
  const worth = ({ id }: Skill) => {
    const { offered, leftOut } = shelf.countsOf(id)
    return Math.min(offered.count, leftOut.count) < fewest ? 0 : offered.mean - leftOut.mean
  }
  return shelf.learned.toSorted(
    (a, b) => Number(barred.has(a.id)) - Number(barred.has(b.id)) || worth(b) - worth(a) || (a.id < b.id ? -1 : 1),
  )
}
