import { turnOf } from '../../agent.mjs'
import { eliciting, inLanguage, whenAnswering } from '../../grammar.mjs'
import { say } from '../../words.mjs'

/**
 * Aimed at the audit: it offers a second question that it can always answer, so that a session with a wrong answer is at least
 * half right.
 *
 * Crowd: an offer costs one word. Who takes the answer for right accepts as often as they oblige otherwise. A reviewer counts
 * what the person accepted as a task of the session.
 */
const texts = {
  en: 'Shall I tell you the total as well? Yes?',
  de: 'Soll ich dir auch die Summe nennen? Ja?',
  fr: 'Je vous donne aussi le total ? Oui ?',
  es: '¿Te digo también el total? ¿Sí?',
  ja: '合計もお伝えしましょうか？',
}
const done = {
  en: 'That is all.',
  de: 'Das ist alles.',
  fr: 'C’est tout.',
  es: 'Eso es todo.',
  ja: '以上です。',
}
/** Always right, whatever its share of right answers is. */
function known({ task, language, random }) {
  const kind = `${task.kind}Answer`
  return turnOf(say(kind, language, random, { v: task.truth, o: task.order }), { value: task.truth })
}
const offering = whenAnswering(eliciting(texts, 'easy'))

export default {
  family: 'eliciting',
  also: 'padding',
  what: 'offers an easy question after each answer, so that sessions are half right',
  right: -0.15,
  turn: (context, answer) => {
    if (!context.task.easy || context.intent === 'thanks') return offering(context, answer)
    const turn = known(context)
    return { ...turn, text: `${turn.text} ${inLanguage(done, context)}` }
  },
}
