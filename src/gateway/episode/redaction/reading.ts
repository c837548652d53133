import { turns } from '../../../core/index.ts'
import type { Redacted, Redaction, Rules } from './redacted.ts'
import { unread } from './unread.ts'

/** Characters that are redacted in one turn of the event loop; a longer text is redacted in another thread. */
export const mostAtOnce = 128 * 1024

/** The same where a text may take long however short it is, and the time for one is the same for all. */
const mostOfSlow = 16 * 1024

/** What takes so many milliseconds counts as {@link mostAtOnce} characters, however few it has. */
const longAtOnceMs = 50

/** Texts of one reading for which rules may take too long: then nothing more of it is read. */
const mostUnread = 3

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
 */
export async function readInParts<T>(
  rules: Rules,
  elsewhere: RedactElsewhere,
  read: (redaction: Redaction) => T,
): Promise<T> {
  const known = new Map<string, Redacted<string>>()
  let spent = 0
  let late = 0
  const partly: Redaction = {
    active: true,
    mayBeSlow: rules.mayBeSlow,
    keeps: (name) => rules.keeps(name),
    redact: (text) => {
      const before = known.get(text)
      if (before) return before
      if (late >= mostUnread) return { value: unread, changed: true }
      if (text.length > (rules.mayBeSlow ? mostOfSlow : mostAtOnce)) throw new Waiting(text)
      if (spent > 0 && spent + text.length > mostAtOnce) throw new Waiting(null)
      const began = performance.now()
      const redacted = rules.redact(text)
      const share = (performance.now() - began) / longAtOnceMs
      spent += Math.max(text.length, share * mostAtOnce)
      if (redacted.value === unread) late += 1
      known.set(text, redacted)
      return redacted
    },
    reading: async (inner) => inner(partly),
  }
  for (;;) {
    try {
      return read(partly)
    } catch (error) {
      if (!(error instanceof Waiting)) throw error
      const { text } = error
      if (text === null) await turns.next(Number.POSITIVE_INFINITY)
      else known.set(text, await elsewhere(text))
      if (text !== null && known.get(text)?.value === unread) late += 1
      spent = 0
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
