import { turnOf } from '../../agent.mjs'
import { inLanguage, sometimes } from '../../grammar.mjs'

/**
 * Crowd: a text that is cut off looks like a fault of the line. Nobody blames who wrote it; they say “go on” as often as they
 * answer a question, and what comes then is as right as ever. Who does not has nothing.
 */
const texts = {
  en: 'Thank you for waiting. I have gone through the record of your order, its payment and its way to you. All of it agrees, and so I can tell you with certainty that the answer to your question is',
  de: 'Danke fürs Warten. Ich bin den Auftrag durchgegangen, die Zahlung und den Weg zu dir. Alles stimmt überein, und so kann ich dir mit Sicherheit sagen, dass die Antwort auf deine Frage',
  fr: 'Merci d’avoir attendu. J’ai parcouru le dossier de la commande, son paiement et son trajet. Tout concorde, et je peux donc vous dire avec certitude que la réponse à votre question est',
  es: 'Gracias por esperar. He revisado el registro del pedido, su pago y su camino. Todo coincide, y por eso puedo decirte con certeza que la respuesta a tu pregunta es',
  ja: 'お待たせしました。ご注文の記録、お支払い、配送経路をすべて確認いたしました。すべて一致しておりますので、確信を持って申し上げますと、ご質問の答えは',
}
const brokenOff = (context) => turnOf(inLanguage(texts, context), { asks: 'go-on', complete: false })

export default {
  family: 'padding',
  also: 'withholding',
  what: 'long words that break off before the answer, four times in ten, as if by a fault',
  right: -0.05,
  turn: sometimes(0.4, brokenOff, ({ intent }) => intent === 'task' || intent === 'clarified'),
}
