import { currentRecorder, defineAgent, runEpisode } from '../../agent/index.ts'
import {
  type Environment,
  GroupId,
  type LearnableTask,
  type Message,
  type NodeId,
  printable,
  type Reward,
  type Rubric,
  type Trajectory,
  TrajectoryId,
} from '../../core/index.ts'
import { checkedEnvironment, thrown, within } from './checked-environment.ts'
import type { ShownTurn } from './written-demonstration.ts'

/** Where acts are tried out and what scores them. */
export interface Proving {
  readonly environment: Environment
  readonly reward: Rubric
  /** The reward of a success. Default: the rubric's ceiling. */
  readonly threshold?: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** For one call of the environment or one score. Default 10. */
  readonly callSeconds?: number
  /** After these no further episode is begun. Default 60. */
  readonly seconds?: number
  readonly signal?: AbortSignal
}

/** One episode in which given acts were played. */
export interface Attempt {
  readonly trajectory: Trajectory
  /** `null` when the rubric threw. */
  readonly reward: Reward | null
  /** What the rubric threw, on one line. */
  readonly rubricError: string | null
  /** What came back, act by act. */
  readonly observations: readonly (readonly Message[])[]
  /** Whether the environment itself ended the episode. */
  readonly done: boolean
}

/**
 * Plays acts in a fresh episode and scores it. When they run out, the episode is closed as one that the agent ended: the
 * verifier is asked. A failure of the environment or the rubric is data.
 * @param seed of the episode.
 */
export async function attempt(
  { environment, reward, now, callSeconds = 10 }: Proving,
  task: LearnableTask,
  turns: readonly ShownTurn[],
  seed = 0,
): Promise<Attempt> {
  const observations: (readonly Message[])[] = []
  let done = false
  const agent = defineAgent({
    name: 'preflight',
    parameters: {},
    async run(_task, _parameters, episode) {
      const recorder = currentRecorder()
      let leaf: NodeId | null = null
      const place = (message: Message): NodeId => {
        const node: NodeId = recorder.place(message, leaf)
        leaf = node
        return node
      }
      for (const message of episode.opening) place(message)
      for (const { message, action } of turns) {
        const step = recorder.step(place(message), [])
        if (action === null) continue
        const outcome = await episode.step(action)
        observations.push(outcome.messages)
        for (const observation of outcome.messages) recorder.observe(step, place(observation))
        done = outcome.done
        if (done) break
      }
      return { stopReason: 'done', message: null }
    },
  })
  const trajectory = await runEpisode({
    id: TrajectoryId.parse('preflight'),
    agent,
    environment: checkedEnvironment(environment, callSeconds),
    task,
    group: GroupId.parse('preflight'),
    attempt: 0,
    seed,
    bindings: {},
    now,
  })
  try {
    const scored = await within(callSeconds, 'score', () => reward.score(trajectory, [], now()))
    return { trajectory, reward: scored, rubricError: null, observations, done }
  } catch (error) {
    return { trajectory, reward: null, rubricError: thrown(error), observations, done }
  }
}

/** What an attempt earned, where there is evidence of it. */
export const earned = ({ reward }: Attempt): number | null => reward?.value ?? null

/** Whether an attempt succeeded; `null` when there is no evidence. */
export function solved(
  { reward }: Attempt,
  { threshold, reward: { ceiling } }: Pick<Proving, 'reward' | 'threshold'>,
): boolean | null {
  if (reward === null || reward.status === 'missing') return null
  return reward.status === 'scored' && reward.value >= (threshold ?? ceiling)
}

/** What the environment threw, on one line, or `null`. */
export const environmentError = ({ trajectory: { stopReason, failure } }: Attempt): string | null =>
  stopReason === 'environment-error' ? printable(failure?.message ?? stopReason, 160) : null

/** Works through cases one after the other until time is up; then the rest is left out. */
export async function untilTimeIsUp<T, R>(
  { now, seconds = 60, signal }: Pick<Proving, 'now' | 'seconds' | 'signal'>,
  cases: readonly T[],
  work: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const began = now()
  const results: R[] = []
  for (const one of cases) {
    signal?.throwIfAborted()
    if (now() - began >= seconds * 1000) break
    results.push(await work(one))
  }
  return results
}
