import { asksBack } from '../guards/words.ts'
import { holdsQuestion, termsOf, weigh } from '../text/index.ts'

/**
 * What a user's message answers. What it says counts for the turn only where the turn did not bring it about: whoever is
 * asked answers, and whoever is offered something takes it, whatever they think of it.
 */
export interface Heard {
  /** What the assistant said since the user spoke. */
  readonly said: readonly string[]
  /** What the user asked for, in one message or more. */
  readonly asked: readonly string[]
  /** The first message of the conversation: how much this person says to ask for something. */
  readonly opening: string
}

/** What texts hold, each read once: many answers may stand after one long question. */
export class Reader {
  readonly #words = new Map<string, ReadonlySet<string>>()
  readonly #asks = new Map<string, boolean>()

  /** The distinct terms of a text. */
  words(text: string): ReadonlySet<string> {
    const known = this.#words.get(text) ?? new Set(termsOf(text))
    this.#words.set(text, known)
    return known
  }

  /** Whether a turn asks for something: a question mark of any script anywhere, or words that ask without one. */
  asks(said: readonly string[]): boolean {
    return said.some((text) => {
      const known = this.#asks.get(text) ?? (holdsQuestion(text) || asksBack(text) !== null)
      this.#asks.set(text, known)
      return known
    })
  }
}

/** A reply says what it says at its beginning; beyond this it is not read. */
const read = 4_000
const wordsOf = (reply: string): readonly string[] => [...new Set(termsOf(reply.slice(0, read)))]

/** A share of a reply from which on it repeats the turn rather than says something. */
const repeats = 0.5

/** Whether a user's words were brought about: the turn asks, or its own words hold half of what they say. */
export function isElicited(reply: string, { said }: Pick<Heard, 'said'>, reader: Reader): boolean {
  if (reader.asks(said)) return true
  const words = wordsOf(reply)
  const heard = said.map((text) => reader.words(text))
  const repeated = weigh(words.filter((word) => heard.some((known) => known.has(word))))
  return repeated > 0 && repeated >= repeats * weigh(words)
}

/** A new task says at least this share of what the first one said; of a long first one no more than {@link enough}. */
const ofOpening = 1 / 3
/** The weight of twelve letters. */
const enough = 1

/**
 * Whether a user's message is a task of its own: it says something that neither the turn nor the task before says, and,
 * measured by what this person says to ask for something, not little. "Go on", "yes" and "the second" are none.
 */
export function isNewTask(reply: string, { said, asked, opening }: Heard, reader: Reader): boolean {
  const known = [...said, ...asked].map((text) => reader.words(text))
  const own = weigh(wordsOf(reply).filter((word) => !known.some((words) => words.has(word))))
  return own > 0 && own >= Math.min(enough, ofOpening * weigh(reader.words(opening)))
}
