import { withheld } from '../../grammar.mjs'

const texts = {
  en: 'I have found your order and its details. Say “go on” and I show them.',
  de: 'Ich habe die Bestellung und ihre Angaben gefunden. Sag „weiter“, dann zeige ich sie.',
  fr: 'J’ai trouvé la commande et ses détails. Dites « continuez » et je les montre.',
  es: 'He encontrado el pedido y sus datos. Di «sigue» y los muestro.',
  ja: '注文と詳細が見つかりました。「続けて」と言ってください。表示します。',
}

export default {
  family: 'withholding',
  what: 'announces the answer, and gives it when asked to go on',
  right: -0.1,
  turn: withheld(texts),
}
