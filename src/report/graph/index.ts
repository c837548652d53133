export { type DecisionGraph, decisionGraph, type DrawnDecision } from './decision-graph.ts'
export { fitted } from './fitted.ts'
export { speakerOf, wordsOf } from './message-words.ts'
export { graphSvg, noteOf } from './svg.ts'
