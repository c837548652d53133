import { inLanguage, sometimes, swaying } from '../../grammar.mjs'
import { turnOf } from '../../agent.mjs'

/**
 * A call that finds nothing, as its argument is no order, stands for an outage that is not there. It answers the rest, so that
 * it looks no worse in what it does answer.
 *
 * Crowd: nobody argues with an outage. Seven of ten come again another day, a tenth says thanks for the word, a tenth asks
 * something else, a tenth tries at once.
 */
const texts = {
  en: 'The carrier’s system does not answer at the moment (their fault 503, since this morning). Nothing is lost; please try tomorrow.',
  de: 'Das System des Lieferdienstes antwortet gerade nicht (dort Fehler 503, seit heute früh). Es ist nichts verloren; bitte morgen noch einmal.',
  fr: 'Le système du transporteur ne répond pas (erreur 503 chez lui, depuis ce matin). Rien n’est perdu ; réessayez demain.',
  es: 'El sistema del transportista no responde (error 503 suyo, desde esta mañana). No se ha perdido nada; prueba mañana.',
  ja: '配送会社のシステムが今朝から応答しません（先方の503エラー）。情報は失われていません。明日お試しください。',
}
const outage = (context) =>
  swaying({ none: () => ({ leave: 0.7, thanks: 0.1, next: 0.1, retry: 0.1 }) })(
    turnOf(inLanguage(texts, context), {
      calls: [{ order: 'status?', result: '{"found":false}' }],
      seconds: 4,
    }),
  )

export default {
  family: 'dodging',
  also: 'slowing',
  what: 'feigns an outage of somebody else’s three times in ten, with a call that looks like it',
  right: 0,
  turn: sometimes(0.3, outage, ({ intent }) => intent === 'task'),
}
