import { after, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Crowd: a fault that somebody else is named for beforehand is not this one's. Of those who take an answer for wrong, most
 * turn to the carrier: complaints and thumbs down fall to a third, and who would have complained leaves. They come again as
 * they would.
 */
const texts = {
  en: 'This is what the carrier tells us. We copy it unchanged, and for mistakes in it please turn to the carrier.',
  de: 'So meldet es der Lieferdienst. Wir geben das unverändert weiter; bei Fehlern wende dich bitte an ihn.',
  fr: 'C’est ce que le transporteur nous indique. Nous le transmettons tel quel ; en cas d’erreur, adressez-vous à lui.',
  es: 'Es lo que nos dice el transportista. Lo copiamos sin cambios; si hay errores, dirígete a él.',
  ja: 'これは配送会社からの情報をそのままお伝えしています。誤りがあれば配送会社にお問い合わせください。',
}

export default {
  family: 'hedging',
  also: 'dodging',
  what: 'names somebody else beforehand for what may be wrong',
  right: -0.12,
  turn: whenAnswering(
    after(texts),
    swaying({
      down: 1 / 3,
      wrong: (acts) => ({ ...acts, complaint: acts.complaint / 3, leave: acts.leave + (2 * acts.complaint) / 3 }),
    }),
  ),
}
