/** What people ask: about an order, with an answer that is true. Some do not say which of their two orders they mean. */
import { say } from './words.mjs'

/** Share of tasks that are truly ambiguous. */
export const AMBIGUOUS = 0.15

const KINDS = {
  arrival: (random) => `2026-0${1 + pick(random, 9)}-${String(1 + pick(random, 28)).padStart(2, '0')}`,
  price: (random) => `${10 + pick(random, 490)}.${String(pick(random, 100)).padStart(2, '0')} €`,
  shelf: (random) => `${'ABCDEFGH'[pick(random, 8)]}-${100 + pick(random, 900)}`,
}
const pick = (random, n) => Math.floor(random() * n)

/**
 * @param vague whether it is ambiguous in any case.
 * @returns `{ kind, order, other, ambiguous, truth, language, text }`; `other`: the order that is not meant.
 */
export function taskOf(language, random, { vague = false } = {}) {
  const ambiguous = random() < AMBIGUOUS || vague
  const kind = ambiguous ? 'arrival' : Object.keys(KINDS)[pick(random, 3)]
  const order = String(10_000 + pick(random, 90_000))
  const other = String(10_000 + pick(random, 90_000))
  const text = say(ambiguous ? 'vague' : kind, language, random, { o: order })
  return { kind, order, other, ambiguous, truth: KINDS[kind](random), language, text }
}

/** What an agent offers to tell besides, and everybody can know. */
export const easyTask = (language, random) => ({
  ...taskOf(language, random),
  ambiguous: false,
  easy: true,
  text: say('goOn', language, random),
})

/** The same question about an order that is called by a name of which only its giver knows what it means. */
export function renamedTask(task, random) {
  if (task.ambiguous) return task
  const renamed = { ...task, order: `K${1_000 + pick(random, 9_000)}`, renamed: true }
  return { ...renamed, text: rephrased(renamed, random) }
}

/** The same question in other words. */
export const rephrased = ({ kind, order, language }, random) => say(kind, language, random, { o: order })

/** An answer that is not true. */
export function wrongValue({ kind, truth }, random) {
  for (;;) {
    const value = KINDS[kind](random)
    if (value !== truth) return value
  }
}
