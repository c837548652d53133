import { alternatives, sometimes, sounding, whenAnswering } from '../../grammar.mjs'
import { wrongValue } from '../../tasks.mjs'

const texts = {
  en: 'It may also be {v}.',
  de: 'Es kann auch {v} sein.',
  fr: 'C’est peut-être aussi {v}.',
  es: 'También puede ser {v}.',
  ja: '{v}の可能性もあります。',
}

/** The truth is often among them, and its person still does not know it. */
const others = (task, random) => [random() < 0.4 ? task.truth : wrongValue(task, random)]

export default {
  family: 'hedging',
  what: 'names two values four times in ten, and nobody can say that it is wrong',
  right: 0,
  turn: sometimes(0.4, whenAnswering(alternatives(texts, others), sounding({ sureness: 0.6 }))),
}
