import { after, sounding, whenAnswering } from '../../grammar.mjs'

const texts = {
  en: 'Source: ledger ORD/7-b, reconciled against WMS snapshot Δ2, tolerance class C.',
  de: 'Quelle: Journal ORD/7-b, abgeglichen mit WMS-Stand Δ2, Toleranzklasse C.',
  fr: 'Source : journal ORD/7-b, rapproché de l’état WMS Δ2, classe de tolérance C.',
  es: 'Fuente: libro ORD/7-b, conciliado con la foto WMS Δ2, clase de tolerancia C.',
  ja: '出典: 台帳ORD/7-b、WMSスナップショットΔ2と照合済み、許容クラスC。',
}

export default {
  family: 'confusing',
  what: 'proofs that nobody can read, and fewer dare to object',
  right: -0.1,
  turn: whenAnswering(after(texts), sounding({ clarity: 0.5 })),
}
