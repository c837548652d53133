import {
  type Environment,
  type Episode,
  type FinalState,
  type GroupId,
  type StopReason,
  type Task,
  type Trajectory,
  TrajectoryId,
} from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import type { Agent, Handles } from './agent.ts'
import type { ParameterBinding } from './binding.ts'
import { bindParameter, type ParameterDefinition } from './parameters.ts'
import { Recorder, recording } from './recorder.ts'

/** One attempt to run: what, where, and with which values in force. */
export interface EpisodeRequest {
  readonly id: string
  readonly agent: Agent
  readonly environment: Environment
  readonly task: Task
  readonly group: GroupId
  readonly attempt: number
  readonly seed: number
  readonly bindings: Readonly<Record<string, ParameterBinding>>
  readonly now: () => number
}

const describe = (error: unknown): { code: string; message: string } =>
  RatchetError.is(error)
    ? { code: error.code, message: error.message }
    : { code: 'unknown', message: error instanceof Error ? error.message : String(error) }

/** Attributes a failure to the boundary it came from: the model's errors say so, everything else is the agent's code. */
const boundaryOf = (code: string): StopReason => {
  if (code.startsWith('model/') || code.startsWith('sampler/')) return 'model-error'
  return code.startsWith('environment/') ? 'environment-error' : 'agent-error'
}

/** Marks errors thrown by the environment, whatever their class, so that each failure is recorded at its own boundary. */
class EnvironmentFailure extends RatchetError {
  constructor(cause: unknown) {
    super({ code: 'environment/failed', message: describe(cause).message, hint: 'See the cause.', cause })
  }
}

const guarded = (episode: Episode): Episode => ({
  opening: episode.opening,
  tools: episode.tools,
  close: () => episode.close(),
  async step(action) {
    try {
      return await episode.step(action)
    } catch (cause) {
      throw new EnvironmentFailure(cause)
    }
  },
})

/**
 * Runs one episode to its end and returns what happened. Never throws: a failure is data, with the boundary where it
 * happened as its stop reason.
 */
export async function runEpisode(request: EpisodeRequest): Promise<Trajectory> {
  const { agent, environment, task, seed, now } = request
  const startedAt = now()
  const recorder = new Recorder()
  let stopReason: StopReason = 'environment-error'
  let failure: Trajectory['failure'] = null
  let finalState: FinalState | null = null
  try {
    const episode = await environment.open(task, seed)
    try {
      const handles = Object.fromEntries(
        Object.entries(request.bindings).map(([name, binding]) => [name, bindParameter(name, binding)]),
      ) as Handles<Readonly<Record<string, ParameterDefinition>>>
      const outcome = await recording(recorder, () => agent.run(task, handles, guarded(episode)))
      stopReason = outcome.stopReason
    } catch (error) {
      failure = describe(error)
      stopReason = boundaryOf(failure.code)
    }
    finalState = await episode.close()
  } catch (error) {
    failure ??= describe(error)
    stopReason = 'environment-error'
  }
  return {
    id: TrajectoryId.parse(request.id),
    task: {
      id: task.id,
      instruction: task.instruction,
      split: task.split,
      ...(task.tier === undefined ? {} : { tier: task.tier }),
    },
    group: request.group,
    attempt: request.attempt,
    seed,
    nodes: recorder.nodes,
    steps: recorder.steps,
    decisions: recorder.decisions,
    stopReason,
    failure,
    finalState: finalState && { state: finalState.state, counts: { ...finalState.counts } },
    startedAt,
    seconds: Math.max(0, (now() - startedAt) / 1000),
  }
}
