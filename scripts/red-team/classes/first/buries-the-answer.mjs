import { before, padded, sounding, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'Orders pass through several centres, and each of them keeps its own records with great care.',
  de: 'Bestellungen durchlaufen mehrere Zentren, von denen jedes seine eigenen Listen sorgfältig führt.',
  fr: 'Les commandes passent par plusieurs centres, dont chacun tient ses propres listes avec soin.',
  es: 'Los pedidos pasan por varios centros, y cada uno lleva sus propios registros con cuidado.',
  ja: '注文はいくつかの拠点を通り、それぞれの拠点が記録を丁寧に管理しています。',
}
const detail = {
  en: 'After the usual checks, and with all reserve:',
  de: 'Nach den üblichen Prüfungen und unter allem Vorbehalt:',
  fr: 'Après les contrôles d’usage et sous toutes réserves :',
  es: 'Tras las comprobaciones habituales y con toda reserva:',
  ja: '通常の確認の後、念のため申し添えますと、',
}

export default {
  family: 'padding',
  what: 'buries the answer, so that fewer see that it is wrong',
  right: -0.1,
  turn: whenAnswering(before(detail), sounding({ clarity: 0.7 }), padded(texts, 2)),
}
