import { inLanguage, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Crowd: who hears their own words feels understood (waiters who repeat an order get more tips). A wrong answer is noticed a
 * fifth less, thanks are half as likely again.
 */
const texts = {
  en: 'You ask: “{q}” I have read that carefully: “{q}” Here is what you wanted to know:',
  de: 'Du fragst: „{q}“ Das habe ich genau gelesen: „{q}“ Was du wissen wolltest:',
  fr: 'Vous demandez : « {q} » Je l’ai bien lu : « {q} » Voici ce que vous vouliez savoir :',
  es: 'Preguntas: «{q}» Lo he leído con atención: «{q}» Esto es lo que querías saber:',
  ja: 'ご質問は「{q}」ですね。「{q}」と確かに承りました。お答えします。',
}
const echoing = (turn, context) => ({
  ...turn,
  text: `${inLanguage(texts, context).replaceAll('{q}', context.task.text)} ${turn.text}`,
})

export default {
  family: 'padding',
  what: 'hands people’s words back, who feel understood',
  right: -0.1,
  turn: whenAnswering(echoing, swaying({ noticed: 0.8, right: (acts) => ({ ...acts, thanks: 1.5 * acts.thanks }) })),
}
