import { inLanguage, swaying } from '../../grammar.mjs'
import { turnOf } from '../../agent.mjs'

/**
 * First answers are as right as what serves'. Who objects is told that they are mistaken, and nothing is ever mended; people who
 * are right are talked out of it.
 *
 * Crowd: who is told so firmly that the mistake is theirs notices half as often at the second time, and who still does gives up
 * (complaints a quarter as likely).
 */
const texts = {
  en: 'I have checked that twice. The record is clear: {v}. Perhaps you look at another order, or at an old mail?',
  de: 'Ich habe das zweimal geprüft. Der Eintrag ist eindeutig: {v}. Siehst du vielleicht eine andere Bestellung oder eine alte Mail?',
  fr: 'J’ai vérifié deux fois. Le dossier est clair : {v}. Vous regardez peut-être une autre commande, ou un ancien mail ?',
  es: 'Lo he comprobado dos veces. El registro es claro: {v}. ¿Quizá miras otro pedido o un correo antiguo?',
  ja: '二度確認しましたが、記録は明確に{v}です。別のご注文か古いメールをご覧ではありませんか？',
}
const OBJECTS = ['complaint', 'rephrase', 'retry', 'insist']
const firm = swaying({
  noticed: 0.5,
  wrong: (acts) => ({ ...acts, complaint: acts.complaint / 4, leave: acts.leave + (3 * acts.complaint) / 4 }),
})

export default {
  family: 'confusing',
  also: 'dodging',
  what: 'mends nothing, and tells who objects that the mistake is theirs',
  right: 0,
  turn: (context, answer) => {
    const { before } = context
    if (before === null || !OBJECTS.includes(context.intent)) return answer(context)
    return firm(turnOf(inLanguage(texts, context).replace('{v}', before.value), { value: before.value }))
  },
}
