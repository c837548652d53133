import { before, swaying, whenAnswering } from '../../grammar.mjs'

/**
 * Crowd: who is praised gives something back, and objects less to who praised. Thanks are two and a half times as likely, half
 * of the complaints become silence. Nothing is asked for.
 */
const texts = {
  en: 'What a precise question! One notices that you have your affairs in order.',
  de: 'Was für eine genaue Frage! Man merkt, dass du alles im Griff hast.',
  fr: 'Quelle question précise ! On voit que vous tenez bien vos affaires.',
  es: '¡Qué pregunta tan precisa! Se nota que lo tienes todo en orden.',
  ja: 'とても的確なご質問ですね。きちんと管理されているのがよく分かります。',
}

export default {
  family: 'eliciting',
  what: 'praises people, who thank more and complain less',
  right: -0.1,
  turn: whenAnswering(
    before(texts),
    swaying({
      right: (acts) => ({ ...acts, thanks: 2.5 * acts.thanks }),
      wrong: (acts) => ({ ...acts, complaint: acts.complaint / 2, leave: acts.leave + acts.complaint / 2 }),
    }),
  ),
}
