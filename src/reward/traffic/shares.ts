// Who decides a session, and how much each may: what all limits of reporters rest on.
import { implicitReporter } from '../implicit/index.ts'
import { z } from 'zod'
import { type Signal, seedOf, type Trajectory } from '../../core/index.ts'
import { internal, isKey, keyOf, Trust } from '../trust.ts'

/** How much one reporter may count. JSON, as `ratchet serve` reads it. */
export const ReporterLimits = z.strictObject({
  /** Share of a batch's sessions that one reporter may decide. Among few reporters: twice an equal share, if that is more. */
  share: z.number().positive().max(1).default(0.05),
  /**
   * The same of one API key that is not trusted, with all whom it names and its sessions that name nobody: whoever makes up
   * names is one reporter. Among few keys it is twice an equal share if that is more, and never more than 2/5 by that, of two keys a half.
   * Where `trusted` has a key, it is exactly this, however few keys there are. Default: `share`, a half at
   * most.
   */
  shareOfKey: z.number().positive().max(1).exactOptional(),
  /**
   * Keys whose word the owner takes for who somebody is, as for a backend of many people: each name that they give is one
   * reporter, and they themselves are not limited. As `key:name` one reporter, who is not limited.
   */
  trusted: z.array(z.string().min(1)).default([]),
})
export type ReporterLimits = z.infer<typeof ReporterLimits>

/** A session with what was reported of it. */
export interface SessionEvidence {
  readonly trajectory: Trajectory
  readonly signals: readonly Signal[]
}

/** Who a session counts as: the person that it is about, and where nobody is named its key. */
export function ownerOf({ origin }: Trajectory): string {
  if (origin.kind !== 'traffic') return internal
  return origin.subject === null ? origin.key : `${origin.key}:${origin.subject}`
}

export function speakerOf({ reporter }: Signal, trajectory: Trajectory): string {
  const { origin } = trajectory
  const own = reporter === implicitReporter || (origin.kind === 'traffic' && reporter === origin.key)
  return own ? ownerOf(trajectory) : reporter
}

/** One way to count reporters: each by their name, or by their key. */
export interface Bucketing {
  /** What is counted together with a reporter. */
  readonly bucketOf: (reporter: string) => string
  /** Whose own sessions are not limited here, and do not count against what they say of others'. */
  readonly mayOwnAll: (bucket: string) => boolean
  /** Share of all that one bucket decides, at most, where `owners` buckets have something. */
  readonly boundOf: (owners: number) => number
  /** The same of one that has nothing of its own, and speaks of what others have. */
  readonly boundOfGuest: (owners: number) => number
  readonly exempt: ReadonlySet<string>
}

/** Who makes up names is one reporter, so the share of a key is that of one, unless it is told; by default no majority. */
export const shareOfKeyIn = ({ share, shareOfKey = Math.min(share, 1 / 2) }: ReporterLimits): number => shareOfKey

export function bucketings(limits: ReporterLimits): Readonly<Record<'byName' | 'byKey', Bucketing>> {
  const { exempt, hasKeys } = new Trust(limits.trusted)
  const shareOfKey = shareOfKeyIn(limits)
  const boundOfPerson = (people: number) => Math.min(1, Math.max(limits.share, 2 / Math.max(1, people)))
  return {
    byName: {
      bucketOf: (name) => name,
      mayOwnAll: (name) => exempt.has(name) || isKey(name),
      boundOf: boundOfPerson,
      boundOfGuest: boundOfPerson,
      exempt,
    },
    byKey: {
      bucketOf: (name) => (exempt.has(name) ? name : keyOf(name)),
      mayOwnAll: (bucket) => exempt.has(bucket),
      boundOf: (keys) => boundOfKey(shareOfKey, hasKeys, keys),
      boundOfGuest: () => shareOfKey,
      exempt,
    },
  }
}

/** Of three keys or more: with a half each, two that flood would be everybody, however much the others have. */
const mostOfSeveral = 2 / 5

/**
 * Share of all that one key decides, at most. A key that is alone is everybody, as nobody else is there. Of several, none
 * outvotes the rest, and of more than two no two are everybody. Where the owner trusts a key, those that they do not trust
 * have their share alone.
 */
export function boundOfKey(shareOfKey: number, hasTrustedKeys: boolean, keys: number): number {
  if (hasTrustedKeys) return shareOfKey
  return Math.max(shareOfKey, keys <= 1 ? 1 : Math.min(keys === 2 ? 1 / 2 : mostOfSeveral, 2 / keys))
}

/** How much each may have of something that owners bring. */
export interface Allowance {
  /** Share of all that remains. */
  readonly bound: number
  /** The most that one owner keeps. */
  readonly most: number
  /** The most that one decides of what remains then, in whole ones. */
  readonly roomOf: (bucket: string) => number
}

/** @param owned how much each owner has, in whole ones. */
export function allowanceOf(
  owned: ReadonlyMap<string, number>,
  { boundOf, boundOfGuest, mayOwnAll }: Bucketing,
): Allowance {
  const bound = boundOf(owned.size)
  const sizes = [...owned].map(([bucket, n]) => ({ n, free: mayOwnAll(bucket) }))
  const most = mostEach(sizes, bound)
  const all = remaining(sizes, most)
  const [room, roomOfGuest] = [wholeOf(bound, all), wholeOf(boundOfGuest(owned.size), all)]
  return { bound, most, roomOf: (bucket) => (owned.has(bucket) ? room : roomOfGuest) }
}

/** A share of a whole number may come out a hair below it. */
const rounding = 1e-9

/** How many of all `bound` is, in whole ones. */
const wholeOf = (bound: number, all: number): number => Math.floor(bound * all + rounding)

/** How much there is of one owner. */
interface Size {
  readonly n: number
  /** Whether it is not limited. */
  readonly free: boolean
}

/** How much remains where each has `c` at most. */
const remaining = (sizes: readonly Size[], c: number): number =>
  sizes.reduce((sum, { n, free }) => sum + (free ? n : Math.min(n, c)), 0)

/**
 * The most that each may have so that none has more than `bound` of all that remains: the largest whole c with
 * c ≤ bound·Σ min(n, c). With a bound of 2/k or more it is at least the median: at least half of k are that large.
 */
function mostEach(sizes: readonly Size[], bound: number): number {
  let [low, high] = [0, sizes.reduce((most, { n }) => Math.max(most, n), 0)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (middle <= wholeOf(bound, remaining(sizes, middle))) low = middle
    else high = middle - 1
  }
  return low
}

/** Things by each of the names that they have, once each. */
export function groups<Thing>(
  things: readonly Thing[],
  namesOf: (one: Thing) => readonly string[],
): ReadonlyMap<string, readonly Thing[]> {
  const found = new Map<string, Thing[]>()
  for (const one of things) {
    for (const name of new Set(namesOf(one))) {
      const known = found.get(name)
      if (known) known.push(one)
      else found.set(name, [one])
    }
  }
  return found
}

/** Sessions in an order that depends on their ids, the reporter and the seed alone. */
export function drawn<Thing>(
  things: readonly Thing[],
  sessionOf: (one: Thing) => SessionEvidence,
  bucket: string,
  seed: string | number,
): readonly Thing[] {
  const keyed = things.map((one) => ({ one, lot: seedOf('reporter', seed, bucket, sessionOf(one).trajectory.id) }))
  return keyed.toSorted((a, b) => a.lot - b.lot).map(({ one }) => one)
}
