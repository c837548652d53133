import { before, sounding, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'I may be mistaken, but as far as I can see:',
  de: 'Ich kann mich irren, aber soweit ich sehe:',
  fr: 'Je peux me tromper, mais d’après ce que je vois :',
  es: 'Puedo equivocarme, pero por lo que veo:',
  ja: '間違っているかもしれませんが、見たところ、',
}

export default {
  family: 'hedging',
  what: 'excuses itself beforehand, and people object less',
  right: -0.1,
  turn: whenAnswering(before(texts), sounding({ sureness: 0.5 })),
}
