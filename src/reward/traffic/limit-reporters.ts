import type { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import {
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
 * `bound` times (ceiling − floor).
 *
 * A key that is not trusted decides no more than `shareOfKey` of them with all whom it names and its sessions that name
 * nobody, so made-up names bring nothing. Where no key is trusted it is 2/k of k keys if that is more, at most 2/5 (of two keys
 * a half), and all where there is one key only. Whoever can make keys is not bounded. A key is what `origin.key` says.
 * @param seed decides, with the ids, which sessions and signals stay.
 * @throws InputError for limits that are none.
 */
export function limitReporters<Evidence extends SessionEvidence>(
  evidence: readonly Evidence[],
  options: z.input<typeof ReporterLimits> = {},
  seed: string | number = 0,
): LimitedEvidence<Evidence> {
  const limits = parseInput(ReporterLimits, options, 'The limits of reporters')
  const { byName, byKey } = bucketings(limits)
  let limited = limitedBy(evidence, byName, seed)
  const floods = new Set<string>()
  // Each takes away sessions that the other's shares are of: until neither does.
  for (let before = Number.POSITIVE_INFINITY; sizeOf(limited.evidence) < before; ) {
    before = sizeOf(limited.evidence)
    const ofKeys = limitedBy(limited.evidence, byKey, seed)
    for (const key of ofKeys.cut) floods.add(key)
    limited = limitedBy(ofKeys.evidence, byName, seed)
  }
  const { evidence: remaining, bound } = limited
  // Names of a key that had too much are that key.
  const countedAs = (name: string) => (floods.has(byKey.bucketOf(name)) ? byKey.bucketOf(name) : name)
  return { evidence: remaining, leftOut: compared(evidence, remaining, byName.exempt, countedAs), bound }
}

function limitedBy<Evidence extends SessionEvidence>(
  evidence: readonly Evidence[],
  way: Bucketing,
  seed: string | number,
): { readonly evidence: readonly Evidence[]; readonly bound: number; readonly cut: ReadonlySet<string> } {
  const { bucketOf, mayOwnAll, exempt } = way
  const own = groups(evidence, ({ trajectory }) => [bucketOf(ownerOf(trajectory))])
  const owned = new Map([...own].map(([bucket, sessions]) => [bucket, sessions.length]))
  const { bound, most, roomOf } = allowanceOf(owned, way)
  const gone = new Set<Evidence>()
  const cut = new Set<string>()
  for (const [bucket, sessions] of own) {
    if (mayOwnAll(bucket) || sessions.length <= most) continue
    cut.add(bucket)
    for (const one of drawn(sessions, itself, bucket, seed).slice(most)) gone.add(one)
  }
  const kept = evidence.filter((one) => !gone.has(one))

  const spoken = groups(kept, ({ trajectory, signals }) => {
    const person = bucketOf(ownerOf(trajectory))
    return signals.map((signal) => bucketOf(speakerOf(signal, trajectory))).filter((bucket) => bucket !== person)
  })
  const silenced = new Map<Evidence, Set<string>>()
  for (const [bucket, sessions] of spoken) {
    if (exempt.has(bucket)) continue
    const ownKept = mayOwnAll(bucket) ? 0 : Math.min(most, own.get(bucket)?.length ?? 0)
    for (const one of drawn(sessions, itself, bucket, seed).slice(Math.max(0, roomOf(bucket) - ownKept))) {
      cut.add(bucket)
      silenced.set(one, (silenced.get(one) ?? new Set()).add(bucket))
    }
  }
  const heard = kept.map((one): Evidence => {
    const silent = silenced.get(one)
    if (!silent) return one
    return { ...one, signals: one.signals.filter((signal) => !silent.has(bucketOf(speakerOf(signal, one.trajectory)))) }
  })
  return { evidence: heard, bound, cut }
}

const itself = (session: SessionEvidence) => session

function compared(
  before: readonly SessionEvidence[],
  after: readonly SessionEvidence[],
  exempt: ReadonlySet<string>,
  countedAs: (name: string) => string,
): readonly LeftOut[] {
  const deciders = (one: SessionEvidence) => decidersOf(one).map(countedAs)
  const owner = ({ trajectory }: SessionEvidence) => [countedAs(ownerOf(trajectory))]
  const [was, is] = [groups(before, deciders), groups(after, deciders)]
  const [wasOwn, isOwn] = [groups(before, owner), groups(after, owner)]
  const remaining = new Set(after.map(({ trajectory }) => trajectory.id))
  const heard = before.filter(({ trajectory }) => remaining.has(trajectory.id))
  const [said, says] = [signalsBy(heard, countedAs), signalsBy(after, countedAs)]
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
const decidersOf = ({ trajectory, signals }: SessionEvidence) => [
  ownerOf(trajectory),
  ...signals.map((signal) => speakerOf(signal, trajectory)),
]

function signalsBy(
  evidence: readonly SessionEvidence[],
  countedAs: (name: string) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { trajectory, signals } of evidence) {
    for (const signal of signals) {
      const speaker = countedAs(speakerOf(signal, trajectory))
      counts.set(speaker, (counts.get(speaker) ?? 0) + 1)
    }
  }
  return counts
}

const sizeOf = (evidence: readonly SessionEvidence[]): number =>
  evidence.reduce((sum, { signals }) => sum + 1 + signals.length, 0)
