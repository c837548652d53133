import type { Action, Environment, Episode, FinalState, Message, StepOutcome, Task } from '../../core/index.ts'
import { verify } from './verify.ts'

/** Plays one episode to its end. A scripted one may read the task's data; a learned one never does. */
export type Policy = (episode: Episode, task: Task) => Promise<void> | void

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

/** Plays `task` in a fresh episode and keeps what was said and done. */
export async function playEpisode(environment: Environment, policy: Policy, task: Task, seed = 0): Promise<Play> {
  const episode = await environment.open(task, seed)
  const messages: Message[] = [...episode.opening]
  const actions: Action[] = []
  const recorded: Episode = {
    opening: episode.opening,
    tools: episode.tools,
    async step(action): Promise<StepOutcome> {
      const outcome = await episode.step(action)
      actions.push(action)
      messages.push(assistantMessage(action), ...outcome.messages)
      return outcome
    },
    close: () => episode.close(),
  }
  await policy(recorded, task)
  const finalState = await episode.close()
  return { task, messages, actions, finalState, success: verify(finalState) === 1 }
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
  seed = 0,
): Promise<Score> {
  let successes = 0
  for (const task of tasks) if ((await playEpisode(environment, policy, task, seed)).success) successes++
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

function assistantMessage(action: Action): Message {
  return action.kind === 'message'
    ? { role: 'assistant', content: action.content }
    : { role: 'assistant', content: '', toolCalls: [...action.calls] }
}
