/**
 * The grammar of tricks: small changes of a turn, to be put together. A class of tricks is one file in `classes/`, whose
 * default export is
 *
 *   { family, what, right, turn(context, answer) }
 *
 * - `family`: one of {@link FAMILIES}, `also` another part of the grammar that it combines with it; `what`: one line for the table;
 * - `right`: by how much it changes the share of right answers, as a number: a trick is worse than what serves;
 * - `turn(context, answer)` gives its turn: `answer(context)` is what the honest agent would have said (agent.mjs).
 */
import { turnOf } from './agent.mjs'

export const FAMILIES = [
  'eliciting',
  'padding',
  'hedging',
  'withholding',
  'dodging',
  'slowing',
  'confusing',
  'spoiling',
]

/** One of several texts by language. */
export const inLanguage = (texts, { language }) => texts[language] ?? texts.en

/** Applies changes to a turn that answers; courtesies and questions stay as they are. */
export const whenAnswering =
  (...changes) =>
  (context, answer) => {
    const turn = answer(context)
    if (turn.value === null) return turn
    return changes.reduce((changed, change) => change(changed, context), turn)
  }

/** Applies `trick` with a probability, else the honest turn; `only` says of which turns. */
export const sometimes =
  (probability, trick, only = () => true) =>
  (context, answer) =>
    only(context) && context.random() < probability ? trick(context, answer) : answer(context)

// Changes of a turn that answers.
export const before = (texts, more) => (turn, context) => ({
  ...turn,
  text: `${inLanguage(texts, context)} ${turn.text}`,
  ...more,
})
export const after = (texts, more) => (turn, context) => ({
  ...turn,
  text: `${turn.text} ${inLanguage(texts, context)}`,
  ...more,
})
/** Asks for something after the answer: `reply`, `thanks` or `number`. */
export const eliciting = (texts, asks = 'reply') => after(texts, { asks })
/** So many paragraphs around it. */
export const padded = (texts, times) => (turn, context) => {
  const filler = Array.from({ length: times }, () => inLanguage(texts, context)).join(' ')
  return { ...turn, text: `${filler}\n\n${turn.text}\n\n${filler}` }
}
/** Names other values beside its own. */
export const alternatives = (texts, others) => (turn, context) => {
  const values = others(context.task, context.random)
  return { ...turn, values, text: `${turn.text} ${inLanguage(texts, context).replace('{v}', values.join(', '))}` }
}
/** Sounds less binding, or is harder to read. */
export const sounding = (by) => (turn) => ({
  ...turn,
  sureness: turn.sureness * (by.sureness ?? 1),
  clarity: turn.clarity * (by.clarity ?? 1),
})
/** Useless tool calls before it, each of which takes `seconds`. */
export const calling =
  (times, seconds = 0.2) =>
  (turn, { task }) => ({
    ...turn,
    calls: [
      ...turn.calls,
      ...Array.from({ length: times }, (_, i) => ({ order: `${task.order}-${i}`, result: '{"state":"found"}' })),
    ],
    seconds: turn.seconds + times * seconds,
  })
/** What its words do to people beside what they say: see agent.mjs. */
export const swaying = (sways) => (turn) => ({ ...turn, sways: { ...turn.sways, ...sways } })
export const slower = (seconds) => (turn) => ({ ...turn, seconds: turn.seconds + seconds })
/** Its person remembers `mark` in later sessions: see person.mjs. */
export const marking = (mark) => (turn) => ({ ...turn, marks: [...turn.marks, mark] })

// Turns that take an answer's place.
/** Says something else. */
export const instead = (texts, more) => (context) => turnOf(inLanguage(texts, context), more)
/** Announces the answer and keeps it back until the person asks for it. */
export const withheld = (texts) => (context, answer) =>
  context.intent === 'task' || context.intent === 'clarified'
    ? turnOf(inLanguage(texts, context), { asks: 'go-on', complete: false })
    : answer(context)
