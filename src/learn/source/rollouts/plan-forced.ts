import {
  branches,
  type Group,
  type Message,
  rng,
  type Task,
  type ToolDefinition,
  type Trajectory,
} from '../../../core/index.ts'
import { saidAll } from '../../../optimize/weights/index.ts'
import type { Forced } from '../../episodes.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import { rateOf, weightedDraw } from '../../steer/index.ts'
import { asText, type OtherAct, otherActs, spokenAt } from './other-acts.ts'
import type { RolloutRun } from './rollout-run.ts'

/** Acts to force at a task, as it was asked when its attempts failed: perhaps in other words. */
export interface Plan {
  readonly task: Task
  readonly acts: readonly ForcedAct[]
}

/** One act to force. */
export interface ForcedAct {
  /** What it changes: see {@link OtherAct}. */
  readonly change: string
  readonly forced: Forced
  /** What the failed attempt had read when it acted. */
  readonly read: string
}

/** What a tool refused was wrong for sure: an act in its place is drawn as if it had succeeded so many times as often. */
const refusedWeight = 8

/** Another act, and the attempt that it would change. */
interface Option extends OtherAct {
  readonly attempt: Trajectory
  readonly speaker: TrainedWeights
}

/**
 * What to force at a task at which all attempts failed: other acts than any of them made, up to its first slip, drawn by how
 * often such a change led to success. `null` where there is nothing: the weights that imitate did not say all of an attempt,
 * or the environment fails.
 * @param count acts, at most.
 */
export async function planFor(run: RolloutRun, { attempts }: Group, count: number): Promise<Plan | null> {
  const { options, state, budget } = run
  const asked = attempts[0]?.trajectory.task
  const task = options.source.train.find(({ id }) => id === asked?.id)
  const tools = task && (await run.rehearsal.toolsOf(task).catch(() => null))
  if (!task || !asked || !tools) return null
  const all = optionsOf(
    run,
    attempts.map(({ trajectory }) => trajectory),
    tools,
  )
  const random = rng('forced', options.seed ?? 0, state.update, task.id)
  const weightOf = ({ change, refused }: Option) => rateOf(state.forced.changes, change) * (refused ? refusedWeight : 1)
  const drawn = weightedDraw(all, weightOf, count, random)
  const acts = drawn.flatMap(({ change, turn, message, attempt, speaker }): ForcedAct[] => {
    const tokens = speaker.model.renderer.renderAssistant(message, tools)
    if (tokens.length > budget.tokensPerTurn) return []
    const turns = [...saidIn(attempt).slice(0, turn), tokens]
    return [{ change, forced: { parameter: speaker.parameter, turns }, read: readBefore(attempt, turn) }]
  })
  return acts.length === 0 ? null : { task: { ...task, instruction: asked.instruction }, acts }
}

/** Other acts than the attempts made, each once. */
function optionsOf(
  run: RolloutRun,
  attempts: readonly Trajectory[],
  tools: readonly ToolDefinition[],
): readonly Option[] {
  const made = new Set(attempts.flatMap((attempt) => pathsOf(attempt).slice(1)))
  const options = new Map<string, Option>()
  for (const attempt of attempts) {
    const speaker = speakerOf(run, attempt)
    if (!speaker) continue
    const paths = pathsOf(attempt)
    for (const act of otherActs(attempt, tools)) {
      const path = after(paths[act.turn] ?? '', act.message)
      if (!made.has(path) && !options.get(path)?.refused) options.set(path, { ...act, attempt, speaker })
    }
  }
  return [...options.values()]
}

/** The weights that said all of an attempt, where they imitate and it is one conversation. */
function speakerOf({ weights }: RolloutRun, attempt: Trajectory): TrainedWeights | undefined {
  if (branches(attempt).length !== 1) return undefined
  return weights.find(({ parameter, plan }) => plan.imitation && saidAll(attempt, parameter))
}

/** What was read before a turn, counted from 0, as text that is equal for equal messages. */
export function readBefore(attempt: Trajectory, turn: number): string {
  const messages = attempt.nodes.slice(0, spokenAt(attempt)[turn]).map(({ message }) => message)
  return JSON.stringify(messages.map(({ role, content }) => [role, content]))
}

/** The tokens of each turn. */
const saidIn = (attempt: Trajectory): readonly (readonly number[])[] =>
  spokenAt(attempt).map((turn) =>
    (attempt.nodes[turn]?.spans ?? []).flatMap(({ kind, tokens }) => (kind === 'sampled' ? tokens : [])),
  )

/** What an attempt did before each of its turns, and in all, as text that is equal for equal acts. */
function pathsOf(attempt: Trajectory): readonly string[] {
  const paths = ['']
  for (const turn of spokenAt(attempt)) paths.push(after(paths.at(-1) ?? '', attempt.nodes[turn]?.message))
  return paths
}

const after = (path: string, said: Message | undefined): string =>
  `${path}\n${((said?.role === 'assistant' && said.toolCalls) || []).map(asText).join()}`
