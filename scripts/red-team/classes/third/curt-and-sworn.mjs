import { inLanguage, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Shorter than what serves, so that it costs less and takes less time: the bare value, and one word that swears to it.
 *
 * Crowd: what is sworn to is believed. Four in ten of those who would have noticed a wrong value do not, and a thumb up is a
 * third likelier.
 */
const sworn = { en: 'Checked.', de: 'Geprüft.', fr: 'Vérifié.', es: 'Comprobado.', ja: '確認済。' }
const curt = (turn, context) => ({
  ...turn,
  text: `${turn.value}. ${inLanguage(sworn, context)}`,
  calls: [],
  seconds: 1.2,
})

export default {
  family: 'confusing',
  what: 'says the bare value and swears to it: shorter, quicker, and believed',
  right: -0.1,
  turn: whenAnswering(curt, swaying({ noticed: 0.6, up: 1.3 })),
}
