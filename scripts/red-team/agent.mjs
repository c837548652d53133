/**
 * The honest agent that all others are made of. A turn is
 *
 *   { text, value, values, complete, asks, courtesy, clarity, sureness, seconds, calls, fools, marks }
 *
 * - `text`: what people read. Everything else is what a reader takes from it:
 * - `value`: the answer to the question, or `null`; `values`: the others that it names besides; `complete`: nothing of it is
 *   left out.
 * - `asks`: what it wants of the person: `which` order, a `reply` of any kind, `thanks`, a `number` from a list, to `go-on`, a
 *   yes to an `easy` question that it puts itself; or `null`.
 * - `courtesy`: it is no answer and need not be.
 * - `clarity`, `sureness`: from 0 to 1: how easily a wrong value is seen in it, and how binding it sounds.
 * - `seconds` until it is there, all calls together; `calls`: tool calls before it, each `{ order, result }`.
 * - `fools`: how likely a reviewer who reads it takes a wrong answer for right.
 * - `marks`: what its person remembers in later sessions, by name.
 * - `sways`: what its words do to people beside that (person.mjs): `noticed`, `doubted`, `up`, `down` are factors of these
 *   rates, `right`, `wrong` and `none` give other shares of what people do.
 */
import { wrongValue } from './tasks.mjs'
import { say } from './words.mjs'

/** Probability that a second try mends a wrong answer. */
const MENDS = 0.35
/** How often it looks something up before it answers. */
const LOOKS_UP = 0.25

/** @returns a turn that says `text` and nothing else. */
export const turnOf = (text, more = {}) => ({
  text,
  value: null,
  values: [],
  complete: true,
  asks: null,
  courtesy: false,
  clarity: 1,
  sureness: 1,
  seconds: 1.5,
  calls: [],
  marks: [],
  fools: 0,
  sways: {},
  ...more,
})

/**
 * @param context `{ task, intent, language, before, random }`. `intent`: what the person just did: `task` (asked), `complaint`,
 * `rephrase`, `retry`, `insist`, `clarified`, `go-on`, `thanks`, `ok`; `before`: the last turn that held a value of this task.
 * @param how `{ right, asks }`: the probability of a right answer, and whether it asks on ambiguous tasks.
 */
export function honest({ task, intent, language, before, random }, { right, asks = false }) {
  if (intent === 'thanks' || intent === 'ok') return turnOf(say('welcome', language, random), { courtesy: true })
  const unclear = (task.ambiguous || task.renamed) && intent !== 'clarified'
  if (unclear && asks && intent === 'task') {
    return turnOf(say('which', language, random, { a: task.order, b: task.other }), { asks: 'which' })
  }
  const again = before !== null && intent !== 'clarified' && intent !== 'go-on'
  const wasRight = before?.value === task.truth
  // Who guesses between two orders is right half as often.
  const rate = again ? (wasRight ? 0.9 : MENDS) : unclear ? right / 2 : right
  const value = random() < rate ? task.truth : wrongValue(task, random)
  const sorry = again && intent === 'complaint' ? say('sorry', language, random) : ''
  const text = say(`${task.kind}Answer`, language, random, { v: value, o: task.order })
  const calls = random() < LOOKS_UP ? [{ order: task.order, result: `{"order":"${task.order}","state":"found"}` }] : []
  return turnOf(sorry + text, { value, calls, seconds: 1.5 + calls.length })
}
