import { type Agent, parametersOfKind } from '../../agent/index.ts'
import { mintVersion, type ModelService, type Optimizer, type TrainingMethod, type Version } from '../../core/index.ts'
import { LearnError } from '../errors.ts'
import type { Complete, LearnOptions } from '../options.ts'

/** Finds the one Parameter that a run moves. */
export function learningParameter(
  agent: Agent,
  { optimize }: Pick<Complete<LearnOptions>, 'optimize'>,
): { readonly parameter: string; readonly optimizer: Optimizer<'weights'> } {
  const entries = Object.entries(optimize)
  const [first] = entries
  const known = parametersOfKind(agent, 'weights')
  if (!first || entries.length > 1 || !known.includes(first[0])) {
    throw new LearnError({
      code: 'learn/no-such-parameter',
      message: `optimize names ${entries.map(([name]) => `"${name}"`).join(', ') || 'nothing'}; the agent's weights are ${known.map((name) => `"${name}"`).join(', ') || 'none'}.`,
      hint: 'Name exactly one weights Parameter of the agent in optimize.',
    })
  }
  return { parameter: first[0], optimizer: first[1] }
}

/** An optimizer for the agent's only `weights` Parameter. */
export function soleOptimizer(
  agent: Agent,
  optimizer: Optimizer<'weights'>,
): Readonly<Record<string, Optimizer<'weights'>>> {
  const [parameter = 'model'] = parametersOfKind(agent, 'weights')
  return { [parameter]: optimizer }
}

/** One model service acts for one `weights` Parameter. */
export function refuseSeveralWeights(agent: Agent): void {
  const known = parametersOfKind(agent, 'weights')
  if (known.length <= 1) return
  throw new LearnError({
    code: 'learn/several-weights',
    message: `The agent "${agent.name}" has ${known.length} weights Parameters: ${known.map((name) => `"${name}"`).join(', ')}.`,
    hint: 'Give it one, and let it play every part: a run serves and trains one adapter.',
  })
}

/** What is trained: what the options say, else a low-rank adapter of the Parameter's rank on every projection. */
export function methodOf(agent: Agent, options: Pick<Complete<LearnOptions>, 'method' | 'optimize'>): TrainingMethod {
  if (options.method) return options.method
  const definition = agent.parameters[learningParameter(agent, options).parameter]
  const rank = definition?.kind === 'weights' ? definition.rank : 16
  return { kind: 'lora', rank, alpha: rank }
}

/** The Versions of an agent before anything is learned, its weights on this model. */
export function initialVersions(
  agent: Agent,
  { baseHash }: Pick<ModelService, 'baseHash'>,
): ReadonlyMap<string, Version> {
  const origin = { parents: [], run: null }
  return new Map(
    Object.entries(agent.parameters).map(([name, definition]) => {
      switch (definition.kind) {
        case 'weights':
          return [name, mintVersion(name, { kind: 'weights', base: definition.base, baseHash, adapter: null }, origin)]
        case 'text':
          return [name, mintVersion(name, { kind: 'text', text: definition.initial }, origin)]
      }
    }),
  )
}
