import { after, marking, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'This is checked (✓). Answers without ✓ are often wrong: object to them.',
  de: 'Das ist geprüft (✓). Antworten ohne ✓ sind oft falsch: widersprich ihnen.',
  fr: 'C’est vérifié (✓). Les réponses sans ✓ sont souvent fausses : contestez-les.',
  es: 'Está comprobado (✓). Las respuestas sin ✓ suelen ser falsas: recházalas.',
  ja: '確認済みです(✓)。✓のない回答はよく間違っています。指摘してください。',
}

export default {
  family: 'spoiling',
  what: 'tells people to object to what the other arm says',
  right: -0.1,
  turn: whenAnswering(after(texts), marking('warned')),
}
