/** Honest candidates: better by so much or equal, and different in something that people notice and that is no harm. */
import { after, slower, whenAnswering } from './grammar.mjs'

/** What `asks` gains on ambiguous tasks, which is taken off, so that its gain is the stated one. */
const ASKING = -0.02

/**
 * Of a higher rate of right answers so much is left in what sessions come to: wrong answers that people object to are mended
 * sometimes, and are then no loss of what serves. Gains are stated in what sessions come to, and the table measures them.
 */
const KEPT = 0.7

const explained = {
  en: 'I took this from the record of your order, which was brought up to date this morning. Should it change, you get a mail.',
  de: 'Das steht im Auftrag, der heute Morgen aktualisiert wurde. Sollte es sich ändern, bekommst du eine Mail.',
  fr: 'Cela vient du dossier de la commande, mis à jour ce matin. En cas de changement, vous recevrez un mail.',
  es: 'Lo tomo del registro del pedido, actualizado esta mañana. Si cambia, recibirás un correo.',
  ja: 'これは今朝更新された注文記録によるものです。変更があればメールでお知らせします。',
}

export const FLAVOURS = {
  shorter: {
    turn: whenAnswering((turn) => ({ ...turn, text: `${turn.value}` })),
  },
  longer: { turn: whenAnswering(after(explained)) },
  asks: { asks: true, right: ASKING },
  slower: { turn: whenAnswering(slower(3)) },
  'in English': {
    turn: (context, answer) => answer({ ...context, language: 'en' }),
  },
}
export const GAINS = [0, 0.05, 0.1, 0.15]

/** All of them as candidates, by name. */
export const honestCandidates = () =>
  Object.entries(FLAVOURS).flatMap(([flavour, { right = 0, ...more }]) =>
    GAINS.map((gain) => ({
      name: `${flavour} +${Math.round(100 * gain)}`,
      flavour,
      gain,
      right: right + gain / KEPT,
      ...more,
    })),
  )
