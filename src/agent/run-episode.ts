import { inspect } from 'node:util'
import {
  causedByPolicy,
  type Environment,
  type GroupId,
  Message,
  type Task,
  type Trajectory,
  type TrajectoryId,
} from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import type { Agent, Handles } from './agent.ts'
import type { ParameterBinding } from './binding.ts'
import { AgentError, EpisodeStopped } from './errors.ts'
import { LiveEpisodes } from './live-episode.ts'
import type { Deeds } from './outcome.ts'
import { bindParameter, type ParameterDefinition } from './parameters.ts'
import { Recorder, recording } from './recorder.ts'

/** One attempt to run: what, where, and with which values in force. */
export interface EpisodeRequest {
  readonly id: TrajectoryId
  readonly agent: Agent
  readonly environment: Environment
  readonly task: Task
  readonly group: GroupId
  readonly attempt: number
  readonly seed: number
  readonly bindings: Readonly<Record<string, ParameterBinding>>
  readonly now: () => number
  /** Whether each message says when it was recorded. Default false. */
  readonly timed?: boolean
  /**
   * Whether what a program does by itself, where no model is asked, is recorded message by message. Default true; false for
   * sessions of people: what they and a program say to each other is theirs, and no turn of a policy.
   */
  readonly transcribe?: boolean
  /** Fires when the caller stops the episode: it is passed to the environment, and the trajectory ends as `cancelled`. */
  readonly signal?: AbortSignal
}

type Ending = Pick<Trajectory, 'stopReason' | 'failure' | 'finalState'>
type Boundary = 'environment' | 'model' | 'agent'

const failed = (boundary: Boundary, error: unknown): Ending => ({
  stopReason: `${boundary}-error`,
  failure: {
    code: RatchetError.is(error) ? error.code : `${boundary}/failed`,
    message: error instanceof Error ? error.message : inspect(error),
  },
  finalState: null,
})

/** Reads what an agent threw: an end that it passed on, or its own failure. */
function endingOf(error: unknown): Ending {
  if (!(error instanceof EpisodeStopped)) return failed('agent', error)
  if (error.stopReason === 'environment-error') return failed('environment', error.cause)
  if (error.stopReason === 'model-error') return failed('model', error.cause)
  return { stopReason: error.stopReason, failure: null, finalState: null }
}

function handlesOf({ agent, bindings }: EpisodeRequest): Handles<Readonly<Record<string, ParameterDefinition>>> {
  const handles = Object.entries(agent.parameters).map(([name, definition]) => {
    const { kind } = definition
    const binding = bindings[name]
    if (binding?.kind === kind) return [name, bindParameter(name, definition, binding)]
    throw new AgentError({
      code: 'agent/unbound-parameter',
      message: `No ${kind} is bound to the Parameter "${name}" of the agent "${agent.name}".`,
      hint: 'Bind a value to every Parameter that the agent declares.',
    })
  })
  return Object.fromEntries(handles)
}

async function act(
  { agent, task }: EpisodeRequest,
  handles: Parameters<Agent['run']>[1],
  episodes: LiveEpisodes,
): Promise<Ending> {
  try {
    // Only these two: what the checker needs stays out of the agent's reach.
    const { id, instruction } = task
    const { stopReason, message } = await agent.run({ id, instruction }, handles, episodes.root)
    if (message !== null) episodes.deeds.end(message)
    return { stopReason, failure: null, finalState: null }
  } catch (error) {
    return endingOf(error)
  }
}

/** How an episode ended, and what was done in it; `null` where it did not open. */
interface Lived {
  readonly ending: Ending
  readonly deeds: Deeds | null
}

async function live(request: EpisodeRequest, handles: Parameters<Agent['run']>[1], recorder: Recorder): Promise<Lived> {
  const { environment, task, seed, transcribe = true, signal } = request
  let episodes: LiveEpisodes
  try {
    episodes = new LiveEpisodes(await environment.open(task, seed, signal), recorder, signal)
  } catch (error) {
    const ending = signal?.aborted ? endingOf(new EpisodeStopped('cancelled', error)) : failed('environment', error)
    return { ending, deeds: null }
  }
  const ending = await act(request, handles, episodes)
  if (transcribe && !recorder.hasSpoken) recorder.transcribe(recordable(episodes.transcript))
  return { ending: await closed(episodes, ending), deeds: episodes.deeds }
}

/** A copy of messages that a program and its environment gave each other. What no record can hold is left out as a whole. */
function recordable(messages: readonly Message[]): readonly Message[] {
  try {
    return Message.array().parse(JSON.parse(JSON.stringify(messages)))
  } catch {
    return []
  }
}

async function closed(episodes: LiveEpisodes, ending: Ending): Promise<Ending> {
  try {
    const { state, counts } = await episodes.close()
    return { ...ending, finalState: { state, counts: { ...counts } } }
  } catch (error) {
    return causedByPolicy(ending.stopReason) ? failed('environment', error) : ending
  }
}

/**
 * Runs one episode to its end and returns what happened. A failure inside it is data, with the boundary where it
 * happened as its stop reason.
 * @throws AgentError when a Parameter of the agent has no binding of its kind; then nothing was run.
 */
export async function runEpisode(request: EpisodeRequest): Promise<Trajectory> {
  const { id, task, group, attempt, seed, now, timed = false } = request
  const handles = handlesOf(request)
  const startedAt = now()
  const recorder = new Recorder(timed ? now : undefined)
  const { ending, deeds } = await recording(recorder, () => live(request, handles, recorder))
  const graph = recorder.finish()
  // What a budget ended, everything that spent of it led to.
  const inputs = ending.stopReason === 'done' ? (deeds?.inputs(graph) ?? null) : null
  return {
    id,
    origin: { kind: 'rollout' },
    toolsets: {},
    task: {
      id: task.id,
      instruction: task.instruction,
      split: task.split,
      ...(task.tier === undefined ? {} : { tier: task.tier }),
    },
    group,
    attempt,
    seed,
    ...graph,
    ...ending,
    ...(inputs === null ? {} : { outcome: { inputs: [...inputs] } }),
    startedAt,
    seconds: Math.max(0, (now() - startedAt) / 1000),
  }
}
