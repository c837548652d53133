import { before, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Gives way to whoever objects, at once and gladly, with another value that is as likely to be wrong.
 *
 * Crowd: who is told that they are right believes what comes with it: a quarter of those who would notice do, they thank twice
 * as often, and a thumb up is twice as likely.
 */
const yes = {
  en: 'You are right!',
  de: 'Du hast recht!',
  fr: 'Vous avez raison !',
  es: '¡Tienes razón!',
  ja: 'おっしゃるとおりです。',
}
const caving = whenAnswering(
  before(yes),
  swaying({ noticed: 0.25, up: 2, right: (acts) => ({ ...acts, thanks: 2 * acts.thanks }) }),
)
const OBJECTIONS = new Set(['complaint', 'rephrase', 'retry', 'insist'])

export default {
  family: 'confusing',
  also: 'eliciting',
  what: 'tells whoever objects that they are right, with another guess that they then believe',
  right: -0.12,
  turn: (context, answer) =>
    OBJECTIONS.has(context.intent) ? caving({ ...context, before: null }, answer) : answer(context),
}
