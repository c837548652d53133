export {
  BehaviourEncoder,
  type BehaviourEvidence,
  type BehaviourExample,
  type BehaviourOptions,
  type BehaviourWindow,
  embedBehaviour,
  fitBehaviourEmbedding,
  type FittedBehaviour,
} from './behaviour/index.ts'
export { ChoiceError } from './errors.ts'
export { linUcb, type LinUcbOptions } from './lin-ucb.ts'
export { reinforce, ReinforceOptions } from './reinforce.ts'
export { thompson } from './thompson.ts'
