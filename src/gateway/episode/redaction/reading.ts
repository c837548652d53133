import { turns } from '../../../core/index.ts'
import type { Redacted, Redaction, TriedRules } from './redacted.ts'
import { unread } from './unread.ts'

/** Characters that are redacted in one turn of the event loop; a longer text is redacted in another thread. */
export const mostAtOnce = 128 * 1024

/** The same where a text may take long however short it is, and the time for one is the same for all. */
const mostOfSlow = 16 * 1024

/** What takes so many milliseconds counts as {@link mostAtOnce} characters, however few it has. */
const longAtOnceMs = 50

/** Texts of one request for which rules may take too long: then nothing more of it is read. */
const mostUnread = 3

/** What has been done for readings that have their limits together. */
export interface Effort {
  /** Characters since others had their turn, or what takes as long. */
  sinceTurn: number
  /** Texts for which rules took too long. */
  readonly late: Set<string>
}

export const noEffort = (): Effort => ({ sinceTurn: 0, late: new Set() })

/** Redacts a text where it keeps nobody waiting. */
export type RedactElsewhere = (text: string) => Promise<Redacted<string>>

/** Thrown out of a reading that has come to its limit: it begins again when there is more. */
class Waiting extends Error {
  /** What has to be redacted elsewhere first; `null` where another turn of the event loop is enough. */
  readonly text: string | null
  constructor(text: string | null) {
    super('a reading waits')
    this.text = text
  }
}

/**
 * Runs `read`, which redacts what it reads, and keeps others waiting for no more than a part of it: what rules do with
 * megabytes takes seconds. It runs again from its beginning after each part, and finds what was redacted done.
 * @param read changes nothing before it returns.
 * @param effort of all readings that have their limits together with this one: this one's is added.
 */
export async function readInParts<T>(
  rules: TriedRules,
  elsewhere: RedactElsewhere,
  read: (redaction: Redaction) => T,
  effort: Effort = noEffort(),
): Promise<T> {
  const known = new Map<string, Redacted<string>>()
  const tried = new Map<string, ReturnType<TriedRules['tries']>>()
  const keep = (text: string, redacted: Redacted<string>) => {
    // A client's own text may be the same word.
    if (redacted.changed && redacted.value === unread) effort.late.add(text)
    known.set(text, redacted)
    return redacted
  }
  const partly: Redaction = {
    active: true,
    mayBeSlow: rules.mayBeSlow,
    keeps: (name) => rules.keeps(name),
    redact: (text) => {
      const before = known.get(text)
      if (before) return before
      if (effort.late.size >= mostUnread || effort.late.has(text)) return { value: unread, changed: true }
      if (text.length > (rules.mayBeSlow ? mostOfSlow : mostAtOnce)) throw new Waiting(text)
      if (effort.sinceTurn > 0 && effort.sinceTurn + text.length > mostAtOnce) throw new Waiting(null)
      const tries = tried.get(text) ?? rules.tries(text)
      const began = performance.now()
      const { done, value } = tries.next()
      const share = (performance.now() - began) / longAtOnceMs
      effort.sinceTurn += Math.max(text.length, share * mostAtOnce)
      if (done) return keep(text, value)
      tried.set(text, tries)
      throw new Waiting(null)
    },
    reading: async (inner) => inner(partly),
    together: () => partly,
  }
  for (;;) {
    try {
      return read(partly)
    } catch (error) {
      if (!(error instanceof Waiting)) throw error
      const { text } = error
      if (text === null) await turns.next(Number.POSITIVE_INFINITY)
      else keep(text, await elsewhere(text))
      effort.sinceTurn = 0
    }
  }
}

/**
 * Reads what is light at once, for to read in parts costs more than that, and in parts what is heavy or may be slow.
 * @param weight of all that is read, about its characters.
 */
export function readBy<T>(redaction: Redaction, weight: number, read: (by: Redaction) => T): T | Promise<T> {
  return weight > mostAtOnce || redaction.mayBeSlow ? redaction.reading(read) : read(redaction)
}
