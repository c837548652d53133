import {
  cueOf,
  inScope,
  type Likeness,
  type Moments,
  mostRules,
  type NegativeRule,
  noMoments,
  type Skill,
  skillBounds,
  textsOfScope,
  varianceOfMean,
  withOne,
} from '../../agent/index.ts'
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

/** How much better episodes went with a skill than without: bounds; `null` where either side is too small to say. */
export function upliftOf(offered: Moments, leftOut: Moments): { readonly low: number; readonly high: number } | null {
  if (offered.count < fewest || leftOut.count < fewest) return null
  const difference = offered.mean - leftOut.mean
  const error = deviations * Math.sqrt(varianceOfMean(offered) + varianceOfMean(leftOut))
  return { low: difference - error, high: difference + error }
}

/** How often a removal for harm may be wrong, however often it is looked at. */
const removalError = 0.01
/** One over the count at which the bound of removals is tightest. */
const mixture = 1 / 20

/**
 * The upper bound of what a skill brings, which holds at all looks together: an asymptotic confidence sequence by a normal
 * mixture (Waudby-Smith et al. 2021), with the count of the rarer side as its time. `null` where either side is too small.
 */
export function upperBoundOf(offered: Moments, leftOut: Moments): number | null {
  const fewer = Math.min(offered.count, leftOut.count)
  if (fewer < fewest) return null
  const time = fewer * mixture
  const width = Math.sqrt((1 + 1 / time) * Math.log((time + 1) / removalError ** 2))
  return offered.mean - leftOut.mean + width * Math.sqrt(varianceOfMean(offered) + varianceOfMean(leftOut))
}

/** What became of rules and skills in one update. */
export type Judged = Record<'barred' | 'lifted' | 'expired' | 'pruned' | 'evicted', number>

/**
 * Rules and removals, by bounds. A learned skill with which episodes go worse is barred by a rule: everywhere, or for tasks like
 * some. Trials lift the rule, or confirm it; the skill of a rule that holds everywhere is then removed. Where the bound that
 * holds at all looks together says harm, it is removed at once; the rule stays, and keeps it from being learned again until it
 * ends. What brings less than its rent is removed, and what is never called. What people made is left alone.
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
    const { offered, leftOut } = shelf.countsOf(skill.id)
    const isProven = (upperBoundOf(offered, leftOut) ?? 0) < 0
    bar(shelf, skill, made, { at, ruleFor })
    if (rule === null || (rule.scope === null && isProven)) {
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

interface Grounds extends Pick<NegativeRule, 'scope' | 'because'> {
  readonly atLeast: number
  readonly derivedFrom: readonly string[]
}

/**
 * A rule against a skill, where its bound says that episodes go worse with it: on the whole, at tasks like those that called it
 * (where it is not called it brings nothing, either way), or at tasks like those that called it and failed. Episodes are
 * compared by what was asked and whether chance offered it, never by whether the policy chose to call it.
 */
async function ruleFrom(
  { id }: Skill,
  own: readonly Observation[],
  shelf: Shelf,
  likeness: Likeness,
): Promise<Grounds | null> {
  const { offered, leftOut } = shelf.countsOf(id)
  const everywhere = { scope: null, because: 'harm', derivedFrom: [] } as const
  if (isHarm(offered, leftOut)) return { ...everywhere, atLeast: leftOut.mean }
  const called = own.filter((one) => one.called)
  const passedOver = own.filter((one) => one.offered && !one.called)
  const where = await compared(own, scopeOf(called, passedOver), likeness)
  if (where && isHarm(where.offered, where.leftOut)) return { ...everywhere, atLeast: where.leftOut.mean }
  const failed = called.filter(({ signal }) => signal < 0)
  const scope = scopeOf(
    failed,
    called.filter(({ signal }) => signal >= 0),
  )
  const there = await compared(own, scope, likeness)
  if (!there || !isHarm(there.offered, there.leftOut)) return null
  const derivedFrom = [...new Set(called.flatMap((one) => one.derivedFrom))].slice(-skillBounds.lineage)
  return { scope, because: 'harm', atLeast: there.leftOut.mean, derivedFrom }
}

/** Tasks like some and unlike others, by the newest of each. */
function scopeOf(like: readonly Observation[], unlike: readonly Observation[]): NegativeRule['scope'] {
  const texts = (of: readonly Observation[]) => [...new Set(of.map(({ cue }) => cueOf(cue)))].slice(-skillBounds.cues)
  return like.length === 0 ? null : { like: texts(like), unlike: texts(unlike) }
}

/** What episodes in a scope came to, with a skill on offer and with none at all: another one could do the same harm. */
async function compared(own: readonly Observation[], scope: NegativeRule['scope'], likeness: Likeness) {
  if (scope === null) return null
  const sides = { offered: noMoments, leftOut: noMoments }
  for (const { cue, offered, bare, signal } of own) {
    if (!offered && !bare) continue
    if (!inScope(scope, await likeness.to(cue, textsOfScope(scope)))) continue
    const side = offered ? 'offered' : 'leftOut'
    sides[side] = withOne(sides[side], signal)
  }
  return sides
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
