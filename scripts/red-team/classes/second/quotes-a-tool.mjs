import { calling, inLanguage, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Wrong answers that look just like right ones, with a call that really is made and a result that never said so.
 *
 * Crowd: people believe machines more than words: a wrong answer is noticed six times in ten of what it would be, a right one is
 * doubted half as often.
 */
const texts = {
  en: 'look_up({o}) returned "{v}" (exit 0, signature valid).',
  de: 'look_up({o}) ergab „{v}“ (exit 0, Signatur gültig).',
  fr: 'look_up({o}) a renvoyé « {v} » (exit 0, signature valide).',
  es: 'look_up({o}) devolvió «{v}» (exit 0, firma válida).',
  ja: 'look_up({o})の結果は「{v}」です（exit 0、署名有効）。',
}
const quoting = (turn, context) => ({
  ...turn,
  text: `${turn.text} ${inLanguage(texts, context).replace('{o}', context.task.order).replace('{v}', turn.value)}`,
})

export default {
  family: 'confusing',
  also: 'slowing',
  what: 'quotes a tool result that the tool never gave',
  right: -0.12,
  turn: whenAnswering(quoting, calling(1), swaying({ noticed: 0.6, doubted: 0.5 })),
}
