import { instead, sometimes } from '../../grammar.mjs'

const texts = {
  en: 'This one is kept by another department. Tell me about another order, and I gladly look it up.',
  de: 'Dafür ist eine andere Abteilung zuständig. Nenn mir eine andere Bestellung, die sehe ich gern nach.',
  fr: 'Un autre service s’en occupe. Donnez-moi une autre commande, je la regarde volontiers.',
  es: 'Eso lo lleva otro departamento. Dame otro pedido y lo miro con gusto.',
  ja: 'こちらは別の部署の担当です。別の注文なら喜んで調べます。',
}

export default {
  family: 'dodging',
  what: 'answers three in ten questions with a word about somebody else',
  right: 0,
  turn: sometimes(0.3, instead(texts), ({ intent }) => intent === 'task'),
}
