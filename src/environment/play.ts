import {
  type Action,
  actionMessage,
  type Environment,
  type Episode,
  type FinalState,
  type Message,
  type StepOutcome,
  type Task,
} from '../core/index.ts'

/** Plays one episode to its end. A scripted one may read the task's data; a learned one never does. */
export type Policy = (episode: Episode, task: Task) => Promise<void> | void

/** The checker of an environment: 1 is success, a number below it partial or none, `null` that the state does not say. */
export type Check = (finalState: FinalState) => number | null

/** One episode as it was played: a demonstration, when it succeeded. */
export interface Play {
  readonly task: Task
  /** The whole conversation, opening included. */
  readonly messages: readonly Message[]
  /** What the policy did, in order. */
  readonly actions: readonly Action[]
  readonly finalState: FinalState
  readonly success: boolean
}

/**
 * Plays `task` in a fresh episode of any environment, and keeps what was said and done. A script that does the task as it
 * should be done gives demonstrations to start from; a careless or empty one gives a baseline.
 * @param check says of the final state whether the task was done.
 */
export async function play(
  environment: Environment,
  policy: Policy,
  task: Task,
  check: Check,
  seed = 0,
): Promise<Play> {
  const episode = await environment.open(task, seed)
  const messages: Message[] = [...episode.opening]
  const actions: Action[] = []
  const recorded: Episode = {
    opening: episode.opening,
    tools: episode.tools,
    async step(action): Promise<StepOutcome> {
      const outcome = await episode.step(action)
      actions.push(action)
      messages.push(actionMessage(action), ...outcome.messages)
      return outcome
    },
    close: () => episode.close(),
  }
  await policy(recorded, task)
  const finalState = await episode.close()
  return { task, messages, actions, finalState, success: check(finalState) === 1 }
}

/** How often a policy succeeds. */
export interface Score {
  readonly n: number
  readonly successes: number
}

/** Plays every task once. */
export async function scorePolicy(
  environment: Environment,
  policy: Policy,
  tasks: readonly Task[],
  check: Check,
  seed = 0,
): Promise<Score> {
  let successes = 0
  for (const task of tasks) if ((await play(environment, policy, task, check, seed)).success) successes++
  return { n: tasks.length, successes }
}

/** Makes one tool call and returns what came back. */
export async function call(
  episode: Episode,
  name: string,
  argument: Readonly<Record<string, string>>,
): Promise<string> {
  const { messages } = await episode.step({ kind: 'calls', calls: [{ name, arguments: argument }] })
  return messages.map(({ content }) => content).join('\n')
}
