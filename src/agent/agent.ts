import { type ParameterName, ParameterName as ParameterNameSchema, type Task } from '../core/index.ts'
import { AgentError } from './errors.ts'
import type { LiveEpisode } from './live-episode.ts'
import { asWeightsDefinition, type HandleOf, type ParameterDefinition, problemOf } from './parameters.ts'
import type { ActOutcome } from './tool-loop.ts'

/** What `run` gets: for each declared Parameter, the handle of its kind. */
export type Handles<P extends Readonly<Record<string, ParameterDefinition>>> = {
  readonly [K in keyof P]: HandleOf<P[K]>
}

/** A program over named Parameters. Made by {@link defineAgent}. */
export interface Agent<
  P extends Readonly<Record<string, ParameterDefinition>> = Readonly<Record<string, ParameterDefinition>>,
> {
  readonly name: string
  readonly parameters: P
  run(task: Pick<Task, 'id' | 'instruction'>, parameters: Handles<P>, episode: LiveEpisode): Promise<ActOutcome>
}

/**
 * Declares an agent: named Parameters, and an ordinary async function that uses them. The graph of what decided what
 * records itself while `run` runs.
 * @throws AgentError for a name that is not an identifier; KindError for a Parameter that no Kind is given for.
 */
export function defineAgent<const P extends Readonly<Record<string, ParameterDefinition>>>(agent: Agent<P>): Agent<P> {
  for (const name of [agent.name, ...Object.keys(agent.parameters)]) {
    if (!ParameterNameSchema.safeParse(name).success) {
      throw new AgentError({
        code: 'agent/bad-name',
        message: `"${name}" cannot name an agent or a parameter.`,
        hint: 'Use a letter followed by letters, digits, "_" or "-", at most 64 in all; not what every object has, as "constructor".',
      })
    }
  }
  for (const [name, definition] of Object.entries(agent.parameters)) {
    const problem = problemOf(name, definition)
    if (problem) throw problem
  }
  return agent
}

/** Names of an agent's Parameters that a model with an adapter answers for. */
export function weightsOf({ parameters }: Pick<Agent, 'parameters'>): readonly ParameterName[] {
  return Object.entries(parameters).flatMap(([name, definition]) => (asWeightsDefinition(definition) ? [name] : []))
}
