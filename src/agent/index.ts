export { type Agent, defineAgent, type Handles, parametersOfKind } from './agent.ts'
export { backward, type CreditedBatch } from './backward.ts'
export type { ParameterBinding, TextBinding, WeightsBinding } from './binding.ts'
export { defaultBudget, type EpisodeBudget } from './budget.ts'
export { critiques } from './critiques.ts'
export { continued, demonstration } from './demonstration.ts'
export { Dialogue } from './dialogue.ts'
export { AgentError, EpisodeStopped } from './errors.ts'
export type { LiveEpisode } from './live-episode.ts'
export {
  type HandleOf,
  type ParameterDefinition,
  type TextDefinition,
  text,
  user,
  type WeightsDefinition,
  weights,
} from './parameters.ts'
export { policySamples } from './policy-samples.ts'
export { currentRecorder, type RecordedGraph, Recorder, recording, type VersionInForce } from './recorder.ts'
export { type EpisodeRequest, runEpisode } from './run-episode.ts'
export { servedAgent } from './served-agent.ts'
export { TextParameter } from './text-parameter.ts'
export type { ActOutcome } from './tool-loop.ts'
export { type CallOptions, WeightsParameter } from './weights-parameter.ts'
