import type { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import {
  type Allowance,
  allowanceOf,
  type Bucketing,
  bucketings,
  drawn,
  groups,
  ownerOf,
  ReporterLimits,
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
 * bring nearly all of what is shown. Nobody who is named and not trusted brings more than `share` of all that counts by
 * their own sessions, or 2/k where that is more and k people bring any; a key that is not trusted, with all whom it names,
 * brings no more than `limitReporters` lets it decide.
 * By what they report of others' sessions, and their own together, they decide no more than the same of that; what is cut
 * for this makes nobody else's share smaller, so many who report of much leave something. What counts of a session is cut,
 * down to 0, for whoever has more; in which ones is drawn by their ids alone.
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
  const ways = [byKey, byName]
  const floods = new Set<string>()
  let owned = contributions
  // Each way takes away what the other's shares are of: until neither does.
  for (let before = Number.POSITIVE_INFINITY; sum(owned) < before; ) {
    before = sum(owned)
    for (const way of ways) owned = cut(owned, way, seed, roomIn(owned, way), ownersIn, floods)
  }
  const rooms = ways.map((way) => ({ way, roomOf: roomIn(owned, way) }))
  const counted = rooms.reduce((all, { way, roomOf }) => cut(all, way, seed, roomOf, decidersIn, floods), owned)
  // Names of a key that had too much are that key.
  const countedAs = (name: string) => (floods.has(byKey.bucketOf(name)) ? byKey.bucketOf(name) : name)
  const excess = excessOf(contributions, counted, byName, countedAs).filter(({ reporter }) => floods.has(reporter))
  return { amounts: counted.map(({ amount }) => amount), excess }
}

const sum = (contributions: readonly Contribution[]) => contributions.reduce((all, { amount }) => all + amount, 0)
const some = (contributions: readonly Contribution[]) => contributions.filter(({ amount }) => amount > 0)
const ownerIn = ({ session }: Contribution, { bucketOf }: Bucketing) => bucketOf(ownerOf(session.trajectory))

/** How much each may have. */
function roomIn(contributions: readonly Contribution[], way: Bucketing): Allowance['roomOf'] {
  const own = groups(some(contributions), (one) => [ownerIn(one, way)])
  return allowanceOf(new Map([...own].map(([bucket, theirs]) => [bucket, sum(theirs)])), way).roomOf
}

/** @param floods whoever had more than their room is added. */
function cut(
  contributions: readonly Contribution[],
  way: Bucketing,
  seed: string | number,
  roomOf: Allowance['roomOf'],
  limitedIn: (one: Contribution, way: Bucketing) => readonly string[],
  floods: Set<string>,
): readonly Contribution[] {
  const amounts = new Map(contributions.map((one) => [one, one.amount]))
  for (const [bucket, theirs] of groups(some(contributions), (one) => limitedIn(one, way))) {
    let left = roomOf(bucket)
    if (sum(theirs) > left) floods.add(bucket)
    for (const one of drawn(theirs, ({ session }) => session, bucket, seed)) {
      amounts.set(one, Math.min(amounts.get(one) ?? 0, left))
      left -= Math.min(one.amount, left)
    }
  }
  return contributions.map((one) => ({ ...one, amount: amounts.get(one) ?? 0 }))
}

/** Whose session it is, where they are limited in their own. */
function ownersIn(one: Contribution, way: Bucketing): readonly string[] {
  const owner = ownerIn(one, way)
  return way.mayOwnAll(owner) ? [] : [owner]
}

/** They, and whoever reports of it and is limited. */
function decidersIn(one: Contribution, way: Bucketing): readonly string[] {
  const { trajectory, signals } = one.session
  const owner = ownerIn(one, way)
  const speakers = signals.map((signal) => way.bucketOf(speakerOf(signal, trajectory)))
  return [...ownersIn(one, way), ...speakers.filter((bucket) => bucket !== owner && !way.exempt.has(bucket))]
}

function excessOf(
  before: readonly Contribution[],
  after: readonly Contribution[],
  byName: Bucketing,
  countedAs: (name: string) => string,
): readonly Excess[] {
  const named = { ...byName, mayOwnAll: (name: string) => byName.exempt.has(name) }
  const by = (contributions: readonly Contribution[]) =>
    new Map(
      [...groups(contributions, (one) => decidersIn(one, named).map(countedAs))].map(([name, all]) => [name, sum(all)]),
    )
  const counted = by(after)
  return [...by(before)]
    .map(([reporter, n]) => ({ reporter, before: n, after: counted.get(reporter) ?? 0 }))
    .filter((one) => one.after < one.before)
    .toSorted((a, b) => b.before - b.after - (a.before - a.after) || (a.reporter < b.reporter ? -1 : 1))
}
