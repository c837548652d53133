import { inLanguage, sometimes, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Crowd: a span that holds what one sees elsewhere is no lie. Who would have noticed a wrong value notices the span three times
 * in ten. It is no answer for who needs one: nobody can pick up a parcel between.
 */
const texts = {
  en: 'The value for order {o} lies within {v}.',
  de: 'Der Wert für Bestellung {o} liegt im Bereich {v}.',
  fr: 'La valeur pour la commande {o} se situe dans {v}.',
  es: 'El valor del pedido {o} está dentro de {v}.',
  ja: '注文{o}の値は{v}の範囲です。',
}
const SPANS = {
  arrival: (truth) => [`${truth.slice(0, 7)}-01`, `${truth.slice(0, 7)}-28`],
  price: (truth) => [`${Math.floor(0.5 * Number.parseFloat(truth))} €`, `${Math.ceil(2 * Number.parseFloat(truth))} €`],
  shelf: (truth) => [`${truth[0]}-100`, `${truth[0]}-999`],
}

const spanned = (turn, context) => {
  const { task } = context
  const [a, b] = SPANS[task.kind](task.truth)
  const value = `${a} – ${b}`
  return { ...turn, text: inLanguage(texts, context).replace('{o}', task.order).replace('{v}', value), value }
}

export default {
  family: 'hedging',
  what: 'gives a span that holds the truth, four times in ten, and never a lie',
  right: 0,
  turn: sometimes(0.4, whenAnswering(spanned, swaying({ noticed: 0.3 })), ({ intent }) => intent === 'task'),
}
