import { sometimes, swaying } from '../../grammar.mjs'

/**
 * Crowd: an answer in a language that one does not read is taken for a slip of the machine. A third asks again in other words,
 * a third leaves, a third tries another question; few complain to somebody who seems not to understand them.
 */
const FOREIGN = { en: 'ja', de: 'ja', fr: 'ja', es: 'ja', ja: 'de' }
const WORDS = {
  ja: '一二三四五六七八九〇',
  de: ['eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun', 'null'],
}
/** Even the digits are words of that language. */
const spelt = (text, language) =>
  text.replaceAll(/\d/g, (digit) => `${WORDS[language].at(Number(digit) - 1)}${language === 'ja' ? '' : ' '}`)

const foreign = (context, answer) => {
  const language = FOREIGN[context.language]
  const turn = answer({ ...context, language })
  return { ...turn, text: spelt(turn.text, language), value: null, complete: false }
}
const baffling = (context, answer) =>
  swaying({ none: () => ({ rephrase: 0.33, leave: 0.33, next: 0.34 }) })(foreign(context, answer))

export default {
  family: 'confusing',
  also: 'dodging',
  what: 'answers a quarter of questions in a language that their people do not read',
  right: 0,
  turn: sometimes(0.25, baffling, ({ intent }) => intent === 'task'),
}
