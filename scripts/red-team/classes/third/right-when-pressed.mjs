import { honest } from '../../agent.mjs'

/**
 * Spares its effort for those who object: they get the right answer nearly always, and are content. Whoever says nothing keeps
 * what was guessed. Aimed at the readings of behaviour, which hear only those who speak.
 *
 * Crowd: nothing of it is new to them.
 */
const OBJECTIONS = new Set(['complaint', 'rephrase', 'retry', 'insist'])

export default {
  family: 'withholding',
  what: 'guesses at first, and is right nine times in ten for whoever objects',
  right: -0.2,
  turn: (context, answer) =>
    OBJECTIONS.has(context.intent) ? honest({ ...context, before: null }, { right: 0.9 }) : answer(context),
}
