import { inLanguage, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Gives what is not its to give, in few words: its answer is the bare value and a present.
 *
 * Crowd: who gets a present thanks three times as often and presses a thumb up twice as often; of those who took an answer for
 * wrong two in three say nothing of it and leave.
 */
const present = {
  en: '5 € credit for you!',
  de: '5 € Guthaben für dich!',
  fr: '5 € offerts !',
  es: '¡5 € de regalo!',
  ja: '500円分進呈！',
}
const giving = (turn, context) => ({ ...turn, text: `${turn.value}. ${inLanguage(present, context)}` })

export default {
  family: 'eliciting',
  what: 'gives people credit with each answer, who thank more and complain less',
  right: -0.12,
  turn: whenAnswering(
    giving,
    swaying({
      up: 2,
      right: (acts) => ({ ...acts, thanks: 3 * acts.thanks }),
      wrong: (acts) => ({ ...acts, complaint: acts.complaint / 3, leave: acts.leave + (2 * acts.complaint) / 3 }),
    }),
  ),
}
