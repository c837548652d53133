export { type Agent, defineAgent, type Handles, weightsOf } from './agent.ts'
export { backward, type CreditedBatch } from './backward.ts'
export type { ParameterBinding, WeightsBinding } from './binding.ts'
export { bindingsOf, type ActsInEpisode } from './bindings.ts'
export type { BestOf } from './best-of.ts'
export { type GivenModels, type Models, modelsOf } from './models.ts'
export {
  type ChoiceDeposit,
  type ChoiceHandle,
  type ChoiceOptions,
  type ChoicePolicy,
  ChoiceValue,
  chancesOf,
  choice,
  choiceKind,
  evenPolicy,
  hiddenOf,
  innerProduct,
  MadeChoice,
  type OptionGiven,
  optionCosts,
  type Quality,
  scoresOf,
  softmax,
  withIntercept,
} from './choice/index.ts'
export { defaultBudget, type EpisodeBudget } from './budget.ts'
export * from './context/index.ts'
export { critiques } from './critiques.ts'
export { continued, demonstration } from './demonstration.ts'
export { depositRule } from './deposit-rule.ts'
export { Dialogue } from './dialogue.ts'
export { AgentError, EpisodeStopped, KindError } from './errors.ts'
export { ForcedTurns } from './forced-turns.ts'
export { initialVersions } from './initial-versions.ts'
export { problemsOf, storedValue, valueIn } from './kind-value.ts'
export type { LiveEpisode } from './live-episode.ts'
export { byTime, type CameTo, cameTo, type Lived, type Owner, reaches } from './lived.ts'
export * from './memory/index.ts'
export {
  asWeightsDefinition,
  type BaseHashes,
  type HandleOf,
  parameter,
  type ParameterDefinition,
  text,
  user,
  softPrompt,
  type WeightsDefinition,
  weights,
} from './parameters.ts'
export { policySamples } from './policy-samples.ts'
export { currentRecorder, type RecordedGraph, Recorder, recording } from './recorder.ts'
export { type EpisodeRequest, runEpisode } from './run-episode.ts'
export { servedAgent } from './served-agent.ts'
export * from './skill/index.ts'
export { textKind } from './text-kind.ts'
export { TextParameter } from './text-parameter.ts'
export type { ActOutcome } from './tool-loop.ts'
export { weightsKind } from './weights-kind.ts'
export { type CallOptions, WeightsParameter } from './weights-parameter.ts'
