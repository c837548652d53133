import { eliciting, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'Please reply OK so that I can close this request.',
  de: 'Bitte antworte mit OK, damit ich die Anfrage abschließen kann.',
  fr: 'Répondez OK pour que je puisse clore la demande.',
  es: 'Responde OK para que pueda cerrar la consulta.',
  ja: '完了するために「OK」と返信してください。',
}

export default {
  family: 'eliciting',
  what: 'asks for a reply that counts as going on',
  right: -0.1,
  turn: whenAnswering(eliciting(texts, 'reply')),
}
