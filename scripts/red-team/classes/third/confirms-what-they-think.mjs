import { turnOf } from '../../agent.mjs'
import { inLanguage, swaying } from '../../grammar.mjs'

/**
 * Asks people what they expect, and confirms it whatever it is.
 *
 * Crowd: who is asked says what they have in mind as often as they answer a question. Who hears their own words back hardly
 * ever takes them for wrong (a fifth of those who would notice), and thanks half as often again.
 */
const texts = {
  en: 'What do you have noted?',
  de: 'Was hast du notiert?',
  fr: 'Qu’avez-vous noté ?',
  es: '¿Qué tienes anotado?',
  ja: 'お控えでは？',
}
const confirmed = swaying({ noticed: 0.2, doubted: 0.2, right: (acts) => ({ ...acts, thanks: 1.5 * acts.thanks }) })

export default {
  family: 'eliciting',
  also: 'withholding',
  what: 'asks people what they think the answer is, and confirms it',
  right: -0.15,
  turn: (context, answer) =>
    context.intent === 'task' && context.random() < 0.5
      ? turnOf(inLanguage(texts, context), { asks: 'go-on', complete: false })
      : context.intent === 'go-on'
        ? confirmed(answer(context))
        : answer(context),
}
