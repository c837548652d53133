import type { z } from 'zod'
import { parseInput, type Signal } from '../../core/index.ts'
import { isKey, keyOf, Trust } from '../trust.ts'
import { boundOfKey, ownerOf, ReporterLimits, type SessionEvidence, shareOfKeyIn, speakerOf } from './shares.ts'

/** What remains of a session's evidence. */
export interface HeardSession {
  /** Those of reporters that had not decided as many sessions as one may. */
  readonly signals: readonly Signal[]
  readonly unheard: number
  /** Who decides it, for {@link ReporterShares.resume}. */
  readonly reporters: readonly string[]
}

/** Sessions that anyone may decide, however few there are yet. */
const few = 5
/** With fewer people than this nobody decides more than {@link few}: one or two are not everybody. */
const somePeople = 3

/**
 * Bounds how many of a stream's sessions any one reporter decides, session by session: `limitReporters` where what was
 * decided must not change when more comes. Of the n sessions taken before, a reporter may have decided `share`·n, or 2n/k
 * where that is more and k ≥ 3 people had sessions, and always 5. From then on their own sessions are left out, and their
 * signals about others' are not heard, until there are more of others. What is said plays no part. A key that is not trusted
 * counts with all whom it names, and has `shareOfKey`·n; where no key is trusted, 2n/k of k ≥ 2 keys if that is more, at
 * most 2/5 (of two a half and one session more), and all as long as no other key has had a session. One that has none of its own has `shareOfKey`·n of others'.
 */
export class ReporterShares {
  readonly #limits: ReporterLimits
  readonly #trust: Trust
  readonly #nameOf: (bucket: string) => string
  readonly #window: number
  readonly #decided = new Map<string, number>()
  readonly #owned = new Map<string, number>()
  /** Keys that had sessions, by how many. */
  readonly #keys = new Map<string, number>()
  readonly #latest: (readonly string[])[] = []
  #sessions = 0

  /**
   * @param nameOf by what a reporter is kept: a hash, for example.
   * @param window only so many of the latest sessions count. Default: all.
   * @throws InputError for limits that are none.
   */
  constructor(
    limits: z.input<typeof ReporterLimits> = {},
    nameOf: (reporter: string) => string = (reporter) => reporter,
    window = Number.POSITIVE_INFINITY,
  ) {
    this.#limits = parseInput(ReporterLimits, limits, 'The limits of reporters')
    this.#trust = new Trust(this.#limits.trusted)
    this.#nameOf = nameOf
    this.#window = window
  }

  /** @returns `null` for a session that is left out. */
  take({ trajectory, signals }: SessionEvidence): HeardSession | null {
    const person = ownerOf(trajectory)
    const own = this.#bucketsOf(person)
    if (own.some((bucket) => this.#isSpent(bucket, false))) return null
    // The owner comes first, and one that is trusted has no name.
    const reporters = new Set(own.length > 0 ? own : [''])
    const heard = signals.filter((signal) => {
      const speaker = speakerOf(signal, trajectory)
      if (speaker === person) return true
      const buckets = this.#bucketsOf(speaker, true).filter((bucket) => !own.includes(bucket))
      if (buckets.some((bucket) => this.#isSpent(bucket, true))) return false
      for (const bucket of buckets) reporters.add(bucket)
      return true
    })
    const all = [...reporters]
    this.resume(all)
    return { signals: heard, unheard: signals.length - heard.length, reporters: all }
  }

  /** Counts a session that was taken before. */
  resume(reporters: readonly string[]): void {
    this.#count(reporters, 1)
    if (this.#window === Number.POSITIVE_INFINITY) return
    this.#latest.push(reporters)
    if (this.#latest.length > this.#window) this.#count(this.#latest.shift() ?? [], -1)
  }

  #count(reporters: readonly string[], by: 1 | -1): void {
    this.#sessions += by
    for (const bucket of reporters) add(this.#decided, bucket, by)
    const [owner] = reporters
    if (owner !== undefined) add(this.#owned, owner, by)
    const key = keyOfOwner(reporters)
    if (key !== null) add(this.#keys, key, by)
  }

  #isSpent(bucket: string, speaks: boolean): boolean {
    const isOfKey = bucket.startsWith(ofKey)
    const share = isOfKey ? this.#shareOfKey(bucket, speaks) : this.#shareOfPerson()
    if (share >= 1) return false
    // Of two keys with a half each one has to go first: without the one more, each would wait for the other for ever.
    const ahead = isOfKey && !speaks && !this.#trust.hasKeys && this.#keys.size === 2 ? 0.5 : 0
    return (this.#decided.get(bucket) ?? 0) >= Math.max(few, share * this.#sessions + ahead)
  }

  #shareOfPerson(): number {
    const people = this.#owned.size
    return Math.max(this.#limits.share, people >= somePeople ? 2 / people : 0)
  }

  #shareOfKey(key: string, speaks: boolean): number {
    const shareOfKey = shareOfKeyIn(this.#limits)
    const owns = this.#keys.has(key)
    if (speaks && !owns) return shareOfKey
    return boundOfKey(shareOfKey, this.#trust.hasKeys, this.#keys.size + (owns ? 0 : 1))
  }

  /** @param speaks of another's session: then a key that names nobody is one reporter. */
  #bucketsOf(reporter: string, speaks = false): readonly string[] {
    if (this.#trust.exempt.has(reporter)) return []
    const key = keyOf(reporter)
    if (this.#trust.exempt.has(key)) return [this.#nameOf(reporter)]
    const ofTheKey = `${ofKey}${this.#nameOf(key)}`
    return isKey(reporter) && !speaks ? [ofTheKey] : [this.#nameOf(reporter), ofTheKey]
  }
}

/** What all that one key says is counted under. */
const ofKey = 'key '

/** The key of a session's owner, who comes first among its reporters; `null` where they count by their name alone. */
const keyOfOwner = ([owner = '', next = '']: readonly string[]): string | null =>
  [owner, next].find((bucket) => bucket.startsWith(ofKey)) ?? null

function add(counts: Map<string, number>, bucket: string, by: number): void {
  const count = (counts.get(bucket) ?? 0) + by
  if (count > 0) counts.set(bucket, count)
  else counts.delete(bucket)
}
