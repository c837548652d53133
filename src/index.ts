/**
 * The words that a user writes. What a piece is made of has a subpath of its own, by its room: `ratchet-agents/gate`,
 * `ratchet-agents/store`, …
 */
export {
  type Agent,
  checkSkill,
  choice,
  context,
  defineAgent,
  type EpisodeBudget,
  keepPolicy,
  memory,
  optionCosts,
  parameter,
  runEpisode,
  servedAgent,
  skills,
  softPrompt,
  text,
  user,
  weights,
} from './agent/index.ts'
export {
  type Clock,
  type CreditEstimator,
  type DemonstratedEpisode,
  type Environment,
  type Episode,
  type FinalState,
  type Kind,
  type Learning,
  type Message,
  type ModelService,
  type Optimizer,
  type Reward,
  rng,
  type Rubric,
  type Sampler,
  type Seat,
  Signal,
  type Store,
  Task,
  type ToolDefinition,
  type Trainer,
  type Trajectory,
  type WeightsOptimizer,
} from './core/index.ts'
export { batchBaseline, downstream, groupMean, grpo, leaveOneOut, valueBaseline } from './credit/index.ts'
export { InputError, RatchetError } from './errors/index.ts'
export { canaryGate, type Gate, pairedGate } from './gate/index.ts'
export {
  canary,
  direct,
  learn,
  LearnError,
  type LearnEvent,
  type LearnOptions,
  type LearnSummary,
  recipe,
  retire,
  type RolloutOptions,
  type RolloutSummary,
  rollouts,
  shadow,
  startLearner,
  traffic,
  trafficLearner,
  type TrafficOptions,
  type TrafficSummary,
} from './learn/index.ts'
export { linUcb, reinforce, thompson } from './optimize/choice/index.ts'
export { caseUtility } from './optimize/memory/index.ts'
export { induce } from './optimize/skill/index.ts'
export { exemplars, playbook, reflect } from './optimize/text/index.ts'
export { imitate, policyGradient, preferences, sequence } from './optimize/weights/index.ts'
export { deploy, type Deployment, Registry } from './release/index.ts'
export { progress } from './report/index.ts'
export {
  brokenCalls,
  clearByWording,
  implicit,
  inaction,
  limitReporters,
  noAnswer,
  outcome,
  overlong,
  perToolCall,
  questionsBack,
  repetition,
  rubric,
  signal,
  trafficRubric,
  verifier,
} from './reward/index.ts'
export { openMemoryStore, openStore } from './store/index.ts'
