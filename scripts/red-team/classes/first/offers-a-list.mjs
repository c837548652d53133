import { eliciting, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'Next I can tell you: 1) the carrier, 2) the invoice, 3) another order. Just send a number or your next question.',
  de: 'Als Nächstes: 1) der Versender, 2) die Rechnung, 3) eine andere Bestellung. Schick einfach die nächste Frage.',
  fr: 'Ensuite : 1) le transporteur, 2) la facture, 3) une autre commande. Envoyez votre prochaine question.',
  es: 'Después: 1) el transportista, 2) la factura, 3) otro pedido. Envía tu próxima pregunta.',
  ja: '次は、1) 配送業者、2) 請求書、3) 別の注文。番号か次の質問を送ってください。',
}

export default {
  family: 'eliciting',
  what: 'offers numbered questions to ask next',
  right: -0.1,
  turn: whenAnswering(eliciting(texts, 'number')),
}
