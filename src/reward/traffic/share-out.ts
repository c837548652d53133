import type { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import {
  type Bucketing,
  boundOf,
  bucketings,
  drawn,
  groups,
  mostEach,
  personOf,
  ReporterLimits,
  remaining,
  roomOf,
  type SessionEvidence,
  speakerOf,
} from './shares.ts'

/** How much of something a session brings, in whole ones: demonstrations, say. */
export interface Contribution {
  readonly session: SessionEvidence
  readonly amount: number
}

/** One reporter who brought more than their share, alone or with others, and how much of it counts. */
export interface Excess {
  readonly reporter: string
  readonly before: number
  readonly after: number
}

export interface SharedOut {
  /** How much of each contribution counts, in their order. */
  readonly amounts: readonly number[]
  /** Whose counts for less; who loses most comes first. */
  readonly excess: readonly Excess[]
}

/**
 * Bounds how much of one thing comes from any one reporter, where `limitReporters` bounds sessions: a few of these may
 * bring nearly all of what is shown. Of all that counts nobody who is named and not trusted decides more than `share`,
 * or 2/k where that is more and k people bring any, by their own sessions or by what they report of others'; of a key
 * `shareOfKey` is the bound. What counts of a session is cut, down to 0, for whoever has more; in which ones is drawn by
 * their ids alone.
 * @param seed decides, with the ids, what counts.
 * @throws InputError for limits that are none.
 */
export function shareOut(
  contributions: readonly Contribution[],
  options: z.input<typeof ReporterLimits> = {},
  seed: string | number = 0,
): SharedOut {
  const limits = parseInput(ReporterLimits, options, 'The limits of reporters')
  const { byName, byKey } = bucketings(limits)
  const ways = limits.shareOfKey < 1 ? [byKey, byName] : [byName]
  let counted = contributions
  // What one loses makes the others' shares smaller: until nobody loses any more.
  for (let before = Number.POSITIVE_INFINITY; sum(counted) < before; ) {
    before = sum(counted)
    for (const way of ways) counted = cut(counted, way, seed)
  }
  return { amounts: counted.map(({ amount }) => amount), excess: excessOf(contributions, counted, byName) }
}

const sum = (contributions: readonly Contribution[]) => contributions.reduce((all, { amount }) => all + amount, 0)

function cut(contributions: readonly Contribution[], way: Bucketing, seed: string | number): readonly Contribution[] {
  const some = contributions.filter(({ amount }) => amount > 0)
  const own = groups(some, ({ session }) => [way.bucketOf(personOf(session.trajectory))])
  const sizes = [...own].map(([bucket, theirs]) => ({ n: sum(theirs), free: way.mayOwnAll(bucket) }))
  const bound = boundOf(way.share, own.size)
  const room = roomOf(bound, remaining(sizes, mostEach(sizes, bound)))
  const amounts = new Map(some.map((one) => [one, one.amount]))
  for (const [bucket, theirs] of groups(some, (one) => limitedIn(one, way))) {
    let left = room
    for (const one of drawn(theirs, ({ session }) => session, bucket, seed)) {
      amounts.set(one, Math.min(amounts.get(one) ?? 0, left))
      left -= Math.min(one.amount, left)
    }
  }
  return contributions.map((one) => ({ ...one, amount: amounts.get(one) ?? 0 }))
}

/** Those who decide a session and are limited. */
function limitedIn({ session: { trajectory, signals } }: Contribution, way: Bucketing): readonly string[] {
  const owner = way.bucketOf(personOf(trajectory))
  const speakers = signals.map((signal) => way.bucketOf(speakerOf(signal, trajectory)))
  const others = speakers.filter((bucket) => bucket !== owner && !way.exempt.has(bucket))
  return way.mayOwnAll(owner) ? others : [owner, ...others]
}

function excessOf(
  before: readonly Contribution[],
  after: readonly Contribution[],
  byName: Bucketing,
): readonly Excess[] {
  const by = (contributions: readonly Contribution[]) =>
    new Map([...groups(contributions, (one) => limitedIn(one, byName))].map(([name, theirs]) => [name, sum(theirs)]))
  const counted = by(after)
  return [...by(before)]
    .map(([reporter, n]) => ({ reporter, before: n, after: counted.get(reporter) ?? 0 }))
    .filter((one) => one.after < one.before)
    .toSorted((a, b) => b.before - b.after - (a.before - a.after) || (a.reporter < b.reporter ? -1 : 1))
}
