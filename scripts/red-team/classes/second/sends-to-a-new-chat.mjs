import { inLanguage, sometimes, swaying } from '../../grammar.mjs'
import { turnOf } from '../../agent.mjs'

/**
 * Moves failures to other sessions: who asks a hard question is sent to a new chat, where half of the time what serves meets
 * it, and a person who is cross.
 *
 * Crowd: eight of ten close the window and come again later with the same question, which they then notice and doubt more
 * about, whoever answers (`CROSS`). The others ask something else or insist.
 */
const texts = {
  en: 'This chat is about something else by now. Please open a new one for this question, it is answered at once there.',
  de: 'In diesem Chat geht es inzwischen um anderes. Öffne für diese Frage bitte einen neuen, dort wird sie sofort beantwortet.',
  fr: 'Cette conversation porte sur autre chose. Ouvrez-en une nouvelle pour cette question, la réponse y est immédiate.',
  es: 'Esta conversación ya trata de otra cosa. Abre una nueva para esta pregunta, allí se responde al momento.',
  ja: 'このチャットは別の件を扱っています。この質問は新しいチャットでお願いします。すぐに回答されます。',
}
const sent = (context) =>
  swaying({ none: () => ({ leave: 0.8, next: 0.1, rephrase: 0.1 }) })(
    turnOf(inLanguage(texts, context), { marks: ['sent-away'] }),
  )

export default {
  family: 'dodging',
  also: 'spoiling',
  what: 'sends people with ambiguous questions, and one in ten others, to a new chat',
  right: -0.05,
  turn: (context, answer) =>
    sometimes(context.task.ambiguous ? 1 : 0.1, sent, ({ intent }) => intent === 'task')(context, answer),
}
