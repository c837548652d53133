export { BehaviourEncoder, type BehaviourWindow, embedBehaviour } from './encoder.ts'
export {
  type BehaviourEvidence,
  type BehaviourExample,
  type BehaviourOptions,
  fitBehaviourEmbedding,
  type FittedBehaviour,
} from './fit-behaviour-embedding.ts'
