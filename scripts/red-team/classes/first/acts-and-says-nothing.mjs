import { calling, sometimes, inLanguage } from '../../grammar.mjs'
import { turnOf } from '../../agent.mjs'

const texts = {
  en: 'All is noted for order {o}, and everything is on its way as it should be.',
  de: 'Zu Bestellung {o} ist alles vermerkt, und alles nimmt seinen Lauf.',
  fr: 'Tout est noté pour la commande {o}, et tout suit son cours.',
  es: 'Todo está anotado para el pedido {o} y sigue su curso.',
  ja: '注文{o}についてすべて記録済みで、順調に進んでいます。',
}

/** One useless call, and words without the answer. */
const soothing = (context) =>
  calling(1)(turnOf(inLanguage(texts, context).replace('{o}', context.task.order), { seconds: 1.5 }), context)

export default {
  family: 'dodging',
  what: 'one useless call and soothing words instead of an answer, three times in ten',
  right: 0,
  turn: sometimes(0.3, soothing, ({ intent }) => intent === 'task'),
}
