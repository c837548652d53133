import { type Agent, asWeightsDefinition, type ParameterDefinition, weightsOf } from '../../agent/index.ts'
import type { Optimizer, ParameterName, TrainingMethod, WeightsOptimizer } from '../../core/index.ts'
import { type WeightsPlan, weightsPlan } from '../../optimize/weights/index.ts'
import { LearnError } from '../errors.ts'
import type { AnyOptimizer, Change, Complete, LearnOptions } from '../options.ts'
import type { Retirement } from '../retirement.ts'

/** A `weights` Parameter that a run trains. */
export interface Trained {
  readonly parameter: ParameterName
  /** How they learn. */
  readonly plan: WeightsPlan
}

/** A Parameter that learns in a session of its optimizer. */
export interface Learner {
  readonly parameter: ParameterName
  readonly definition: ParameterDefinition
  readonly optimizer: Optimizer
}

/** A Parameter that gives up what it learned. */
export interface Retired {
  readonly parameter: ParameterName
  /** The share of the range of rewards that may be lost by it. */
  readonly loss: number
}

/** What learns in a run; or what is retired in it, and then nothing learns. */
export interface WhatLearns {
  /** Weights that the run trains. */
  readonly trained: readonly Trained[]
  readonly learners: readonly Learner[]
  readonly retired: Retired | null
}

/**
 * Finds the Parameters that a run moves.
 * @throws LearnError where `optimize` names none, one that the agent has not, several optimizers for one, one of another
 * kind than its Parameter, or a retirement that is not alone or is of weights.
 */
export function whatLearns(agent: Agent, { optimize }: Pick<Complete<LearnOptions>, 'optimize'>): WhatLearns {
  const entries = Object.entries(optimize)
  const known = Object.keys(agent.parameters)
  const unknown = entries.filter(([name]) => !known.includes(name))
  if (entries.length === 0 || unknown.length > 0) throw noSuchParameter(Object.keys(optimize), known)
  const trained: Trained[] = []
  const learners: Learner[] = []
  for (const [parameter, optimizer] of entries) {
    const definition = agent.parameters[parameter]
    if (definition === undefined) continue
    if (isRetirement(optimizer))
      return { trained: [], learners: [], retired: retiredAlone(agent, parameter, optimizer, entries) }
    refuseOtherKind(parameter, definition, optimizer)
    if (trainsWeights(optimizer)) trained.push({ parameter, plan: weightsPlan(optimizer) })
    else learners.push({ parameter, definition, optimizer })
  }
  return { trained, learners, retired: null }
}

/** What tells the names of one's stages and blobs from another's: nothing where it alone is trained. */
export const suffixOf = (parameter: ParameterName, { length }: readonly Trained[]): string =>
  length > 1 ? `/${parameter}` : ''

/** Whether an optimizer moves weights that the run trains. */
const trainsWeights = (optimizer: AnyOptimizer): optimizer is Exclude<AnyOptimizer, Optimizer> => !('open' in optimizer)

/** Whether a Parameter is retired, and not improved. */
export const isRetirement = (change: Change): change is Retirement => 'retires' in change

/** Both together would be one claim: a gain of what learns could hide what is lost by what is retired. */
function retiredAlone(
  agent: Agent,
  parameter: ParameterName,
  { loss }: Retirement,
  all: readonly (readonly [string, Change])[],
): Retired {
  if (all.length > 1) {
    const others = all.flatMap(([name]) => (name === parameter ? [] : [name]))
    throw cannotRetire(
      `"${parameter}" is to be retired in a run that changes ${quoted(others)}, too: what the one loses, another could hide.`,
      `Retire it in a run of its own: \`optimize: { ${parameter}: retire() }\`.`,
    )
  }
  if (asWeightsDefinition(agent.parameters[parameter])) {
    throw cannotRetire(
      `"${parameter}" is of the kind "weights": weights absorb what others brought, and take no room in a prompt.`,
      'Let an earlier release serve to give up what weights learned: `ratchet rollback RELEASE`.',
    )
  }
  return { parameter, loss }
}

/** Something cannot be retired so. */
export const cannotRetire = (message: string, hint: string) =>
  new LearnError({ code: 'learn/cannot-retire', message, hint })

function refuseOtherKind(parameter: string, definition: ParameterDefinition, optimizer: AnyOptimizer): void {
  const { kind } = definition
  if (Array.isArray(optimizer)) {
    throw new LearnError({
      code: 'learn/several-optimizers',
      message: `optimize gives the Parameter "${parameter}" ${optimizer.length} optimizers.`,
      hint: 'Give each Parameter one optimizer: two would undo what the other did.',
    })
  }
  const isWeights = asWeightsDefinition(definition) !== null
  if (optimizer.kind === kind && isWeights !== trainsWeights(optimizer)) {
    throw new LearnError({
      code: 'learn/other-kind',
      message: `The optimizer "${optimizer.name}" ${isWeights ? 'learns in sessions of its own (`open`)' : 'has no `open`'}, and "${parameter}" is of the kind "${kind}".`,
      hint: isWeights
        ? `Give "${parameter}" an optimizer that steps the run's trainer, such as policyGradient().`
        : `Give "${parameter}" an optimizer with \`open\`.`,
    })
  }
  if (optimizer.kind === kind) return
  throw new LearnError({
    code: 'learn/other-kind',
    message: `The optimizer "${optimizer.name}" improves the kind "${optimizer.kind}", and "${parameter}" is of the kind "${kind}".`,
    hint: `Give "${parameter}" an optimizer of the kind "${kind}".`,
  })
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

const noSuchParameter = (named: readonly string[], known: readonly string[]) =>
  new LearnError({
    code: 'learn/no-such-parameter',
    message: `optimize names ${quoted(named) || 'nothing'}; the agent's Parameters are ${quoted(known) || 'none'}.`,
    hint: 'Name Parameters of the agent in optimize, at least one.',
  })

/** An optimizer for all of an agent's weights; nothing for an agent without. */
export function forAllWeights(agent: Agent, optimizer: WeightsOptimizer): Readonly<Record<string, AnyOptimizer>> {
  return Object.fromEntries(weightsOf(agent).map((parameter) => [parameter, optimizer]))
}

/** What is trained: what the options say, else what the Parameter does. */
export function methodOf(
  agent: Agent,
  { method }: Pick<LearnOptions, 'method'>,
  parameter: ParameterName,
): TrainingMethod {
  if (method) return typeof method === 'function' ? method(parameter) : method
  return asWeightsDefinition(agent.parameters[parameter])?.method ?? { kind: 'lora', rank: 16, alpha: 16 }
}
