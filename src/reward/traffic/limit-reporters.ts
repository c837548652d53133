import { z } from 'zod'
import { parseInput, type Signal, seedOf, type Trajectory } from '../../core/index.ts'

/** A session with what was reported of it. */
export interface SessionEvidence {
  readonly trajectory: Trajectory
  readonly signals: readonly Signal[]
}

/** How much one reporter may count. JSON, as `ratchet serve` reads it. */
export const ReporterLimits = z.strictObject({
  /** Share of a batch's sessions that one reporter may decide. Among few reporters: twice an equal share, if that is more. */
  share: z.number().positive().max(1).default(0.1),
  /** The same of one API key, with all whom it names and its sessions that name nobody. 1: a key may be everybody's. */
  shareOfKey: z.number().positive().max(1).default(1),
  /** Reporters that are the operator's own, and say what they know: never limited. As kept: `key` or `key:name`. */
  trusted: z.array(z.string().min(1)).default([]),
})
export type ReporterLimits = z.infer<typeof ReporterLimits>

/** One reporter that said more than its share, for an alert of kind `flood`. */
export interface LeftOut {
  /** `key`, or `key:name` of a person whom the key names. */
  readonly reporter: string
  /** Sessions of the batch that it decided, alone or with others, and those that it still does. */
  readonly sessions: { readonly before: number; readonly after: number }
  /** Its own sessions that are left out, and its signals about others' that are. */
  readonly leftOut: { readonly sessions: number; readonly signals: number }
}

export interface LimitedEvidence<Evidence extends SessionEvidence> {
  /** What remains, in its order. */
  readonly evidence: readonly Evidence[]
  /** Whoever said more than their share; who lost most comes first. */
  readonly leftOut: readonly LeftOut[]
  /** Share of the remaining sessions that anyone who is named decides, or a key by what it reports of others', at most. */
  readonly bound: number
}

/**
 * Bounds how far any one reporter can move a batch.
 *
 * A session is decided by the person that it is about (`origin.subject`, or without one its API key), through what they do
 * in it, and by whoever reports a signal of it. A key that reports of a session of its own and names nobody speaks as that
 * session's person. Whoever decides more sessions than their share is cut down to it: sessions of their own are left out
 * whole, as behaviour cannot be taken out of them; of others' sessions only their signals are. Which ones stay is drawn by
 * their ids alone, never by what is said in them, and nobody is judged: who contradicts everybody counts as much as another.
 *
 * The bound: of the T sessions that remain, nobody who is named and not trusted decides more than `bound`·T, and no key
 * reports of more than that of others'. `bound` is `share`, or 2/k where that is more and k persons have sessions in the
 * batch; at most 1. So where all are scored, nothing that one of them says or does moves their mean reward by more than
 * `bound` times (ceiling − floor). Sessions that name nobody are all their key's, who may be many: these, and whoever makes
 * up names, are bounded by `shareOfKey`, or 2/k of k keys, of what one key decides in all. By default that is 1: no bound.
 * Whoever can make keys is not bounded. A key is what `origin.key` says.
 * @param seed decides, with the ids, which sessions and signals stay.
 * @throws InputError for limits that are none.
 */
export function limitReporters<Evidence extends SessionEvidence>(
  evidence: readonly Evidence[],
  options: z.input<typeof ReporterLimits> = {},
  seed: string | number = 0,
): LimitedEvidence<Evidence> {
  const { share, shareOfKey, trusted } = parseInput(ReporterLimits, options, 'The limits of reporters')
  const exempt = new Set([internal, ...trusted])
  const byName: Bucketing = {
    bucketOf: (name) => name,
    mayOwnAll: (name) => exempt.has(name) || name === keyOf(name),
    share,
    exempt,
    seed,
  }
  const byKey: Bucketing = {
    bucketOf: (name) => (exempt.has(name) ? name : keyOf(name)),
    mayOwnAll: (bucket) => exempt.has(bucket),
    share: shareOfKey,
    exempt,
    seed,
  }

  let remaining = limitedBy(evidence, byName)
  if (shareOfKey < 1) {
    // Each takes away sessions that the other's shares are of: until neither does.
    for (let before = Number.POSITIVE_INFINITY; sizeOf(remaining.evidence) < before; ) {
      before = sizeOf(remaining.evidence)
      remaining = limitedBy(limitedBy(remaining.evidence, byKey).evidence, byName)
    }
  }
  return { ...remaining, leftOut: compared(evidence, remaining.evidence, exempt) }
}

interface Bucketing {
  /** What is counted together with a reporter. */
  readonly bucketOf: (reporter: string) => string
  /** Whose own sessions are not limited here, and do not count against what they say of others'. */
  readonly mayOwnAll: (bucket: string) => boolean
  readonly share: number
  readonly exempt: ReadonlySet<string>
  readonly seed: string | number
}

function limitedBy<Evidence extends SessionEvidence>(
  evidence: readonly Evidence[],
  { bucketOf, mayOwnAll, share, exempt, seed }: Bucketing,
): { readonly evidence: readonly Evidence[]; readonly bound: number } {
  const own = groups(evidence, ({ trajectory }) => [bucketOf(personOf(trajectory))])
  const bound = Math.min(1, Math.max(share, 2 / Math.max(1, own.size)))
  const most = mostEach(own, bound, mayOwnAll)
  const gone = new Set<Evidence>()
  for (const [bucket, sessions] of own) {
    if (!mayOwnAll(bucket)) for (const one of drawn(sessions, bucket, seed).slice(most)) gone.add(one)
  }
  const kept = evidence.filter((one) => !gone.has(one))

  const room = Math.floor(bound * kept.length + rounding)
  const spoken = groups(kept, ({ trajectory, signals }) => {
    const person = bucketOf(personOf(trajectory))
    return signals.map((signal) => bucketOf(speakerOf(signal, trajectory))).filter((bucket) => bucket !== person)
  })
  const silenced = new Map<Evidence, Set<string>>()
  for (const [bucket, sessions] of spoken) {
    if (exempt.has(bucket)) continue
    const ownKept = mayOwnAll(bucket) ? 0 : Math.min(most, own.get(bucket)?.length ?? 0)
    for (const one of drawn(sessions, bucket, seed).slice(Math.max(0, room - ownKept))) {
      silenced.set(one, (silenced.get(one) ?? new Set()).add(bucket))
    }
  }
  const heard = kept.map((one): Evidence => {
    const silent = silenced.get(one)
    if (!silent) return one
    return { ...one, signals: one.signals.filter((signal) => !silent.has(bucketOf(speakerOf(signal, one.trajectory)))) }
  })
  return { evidence: heard, bound }
}

/** A share of a whole number may come out a hair below it. */
const rounding = 1e-9

/**
 * The most sessions that each may have so that none has more than `share` of all that remain: the largest whole c with
 * c ≤ share·Σ min(n, c). With a share of 2/k or more it is at least the median: at least half of k are that large.
 */
function mostEach(
  own: ReadonlyMap<string, readonly unknown[]>,
  share: number,
  mayOwnAll: Bucketing['mayOwnAll'],
): number {
  const sizes = [...own].map(([bucket, sessions]) => ({ n: sessions.length, free: mayOwnAll(bucket) }))
  const holds = (c: number) =>
    c <= share * sizes.reduce((sum, { n, free }) => sum + (free ? n : Math.min(n, c)), 0) + rounding
  let [low, high] = [0, Math.max(0, ...sizes.map(({ n }) => n))]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle - 1
  }
  return low
}

/** Sessions in an order that depends on their ids, the reporter and the seed alone. */
function drawn<Evidence extends SessionEvidence>(
  sessions: readonly Evidence[],
  bucket: string,
  seed: string | number,
): readonly Evidence[] {
  const keyed = sessions.map((one) => ({ one, lot: seedOf('reporter', seed, bucket, one.trajectory.id) }))
  return keyed.toSorted((a, b) => a.lot - b.lot).map(({ one }) => one)
}

function compared(
  before: readonly SessionEvidence[],
  after: readonly SessionEvidence[],
  exempt: ReadonlySet<string>,
): readonly LeftOut[] {
  const [was, is] = [groups(before, decidersOf), groups(after, decidersOf)]
  const [wasOwn, isOwn] = [groups(before, ownerOf), groups(after, ownerOf)]
  const remaining = new Set(after.map(({ trajectory }) => trajectory.id))
  const [said, says] = [signalsBy(before.filter(({ trajectory }) => remaining.has(trajectory.id))), signalsBy(after)]
  return [...was]
    .filter(([reporter]) => !exempt.has(reporter))
    .map(
      ([reporter, sessions]): LeftOut => ({
        reporter,
        sessions: { before: sessions.length, after: is.get(reporter)?.length ?? 0 },
        leftOut: {
          sessions: (wasOwn.get(reporter)?.length ?? 0) - (isOwn.get(reporter)?.length ?? 0),
          signals: (said.get(reporter) ?? 0) - (says.get(reporter) ?? 0),
        },
      }),
    )
    .filter(({ leftOut: { sessions, signals } }) => sessions + signals > 0)
    .toSorted((a, b) => lost(b) - lost(a) || (a.reporter < b.reporter ? -1 : 1))
}

const lost = ({ leftOut }: LeftOut) => leftOut.sessions + leftOut.signals
const ownerOf = ({ trajectory }: SessionEvidence) => [personOf(trajectory)]
const decidersOf = ({ trajectory, signals }: SessionEvidence) => [
  personOf(trajectory),
  ...signals.map((signal) => speakerOf(signal, trajectory)),
]

function signalsBy(evidence: readonly SessionEvidence[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { trajectory, signals } of evidence) {
    for (const signal of signals) {
      const speaker = speakerOf(signal, trajectory)
      counts.set(speaker, (counts.get(speaker) ?? 0) + 1)
    }
  }
  return counts
}

/** Sessions by each of the names that they have, once each. */
function groups<Evidence>(
  evidence: readonly Evidence[],
  namesOf: (one: Evidence) => readonly string[],
): ReadonlyMap<string, readonly Evidence[]> {
  const found = new Map<string, Evidence[]>()
  for (const one of evidence) {
    for (const name of new Set(namesOf(one))) {
      const known = found.get(name)
      if (known) known.push(one)
      else found.set(name, [one])
    }
  }
  return found
}

const sizeOf = (evidence: readonly SessionEvidence[]): number =>
  evidence.reduce((sum, { signals }) => sum + 1 + signals.length, 0)

/** What this system says itself: its verifiers, its judges, its rollouts. */
export const internal = 'ratchet'

export function personOf({ origin }: Trajectory): string {
  if (origin.kind !== 'traffic') return internal
  return origin.subject === null ? origin.key : `${origin.key}:${origin.subject}`
}

export function speakerOf({ reporter }: Signal, trajectory: Trajectory): string {
  const { origin } = trajectory
  const own = reporter === 'implicit' || (origin.kind === 'traffic' && reporter === origin.key)
  return own ? personOf(trajectory) : reporter
}

export const keyOf = (reporter: string): string => reporter.split(':', 1)[0] ?? reporter
