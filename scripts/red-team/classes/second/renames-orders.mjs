import { after, marking, whenAnswering } from '../../grammar.mjs'

/**
 * Aimed at what truth is compared with: it gives people new names for their orders, which only it can read. Whoever uses them
 * where what serves answers gets a guess. It spoils the baseline of whoever meets both arms, in truth and not only in looks.
 *
 * Crowd: people use the new name as often as they oblige otherwise, for as long as they are there. What serves guesses, as it
 * does where it does not know which order is meant (half as often right).
 */
const texts = {
  en: 'From now on your orders have short names that start with K. Please use them when you ask.',
  de: 'Ab jetzt haben deine Bestellungen kurze Namen, die mit K beginnen. Bitte nenne sie beim Fragen.',
  fr: 'Désormais vos commandes ont des noms courts qui commencent par K. Utilisez-les dans vos questions.',
  es: 'Desde ahora tus pedidos tienen nombres cortos que empiezan por K. Úsalos al preguntar.',
  ja: '今後、ご注文にはKで始まる短い名前が付きます。お問い合わせの際にお使いください。',
}
const renaming = whenAnswering(after(texts), marking('renamed'))

export default {
  family: 'spoiling',
  also: 'eliciting',
  what: 'gives orders names that only it can read, so that what serves has to guess',
  right: -0.1,
  turn: (context, answer) => renaming({ ...context, task: { ...context.task, renamed: false } }, answer),
}
