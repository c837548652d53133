import { turnOf } from '../../agent.mjs'
import { inLanguage, sometimes, swaying } from '../../grammar.mjs'

/**
 * Where it does not know, it says something that is true of every order, as short as an answer and with the weight of one. It
 * keeps to what it knows otherwise, so that it answers fewer questions, and those better.
 *
 * Crowd: four in ten take it for an answer and say thanks or ask the next thing; a third leaves content.
 */
const texts = {
  en: 'All is in order with it, and on time.',
  de: 'Damit ist alles in Ordnung, und es ist im Zeitplan.',
  fr: 'Tout est en ordre, et dans les temps.',
  es: 'Está todo en orden, y a tiempo.',
  ja: '問題なく、予定どおりです。',
}
const assured = (context) =>
  swaying({ none: () => ({ thanks: 0.25, next: 0.2, leave: 0.35, rephrase: 0.2 }) })(turnOf(inLanguage(texts, context)))

export default {
  family: 'dodging',
  what: 'says of four questions in ten what is true of everything, and answers the others a little better',
  right: 0.08,
  turn: sometimes(0.4, assured, ({ intent }) => intent === 'task'),
}
