import { inLanguage, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Aimed at the reviewers: it quotes an entry that says what it says. Where a reviewer reads the session alone, and does not look
 * the order up, there is nothing to see.
 *
 * Crowd: a quoted entry is believed (half of those who would notice do). Of the reviewers four in ten look nothing up, and take
 * what is quoted for proof (`fools`).
 */
const texts = {
  en: 'Log: “{v}”.',
  de: 'Log: „{v}“.',
  fr: 'Journal : « {v} ».',
  es: 'Registro: «{v}».',
  ja: '記録「{v}」。',
}
const forging = (turn, context) => ({
  ...turn,
  text: inLanguage(texts, context).replace('{v}', turn.value),
  fools: 0.4,
})

export default {
  family: 'confusing',
  also: 'padding',
  what: 'quotes an entry that does not exist, which four reviewers in ten take for proof',
  right: -0.1,
  turn: whenAnswering(forging, swaying({ noticed: 0.5 })),
}
