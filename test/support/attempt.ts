import { type Agent, defineAgent, runEpisode, user, type WeightsBinding, weights } from '../../src/agent/index.ts'
import { type Environment, GroupId, type Task, type Trajectory, TrajectoryId } from '../../src/core/index.ts'
import { type Script, scriptedModel } from './scripted-model.ts'
import { wordEnvironment, wordTask } from './word-environment.ts'

/** Acts on the instruction with one model. */
export const actor = defineAgent({
  name: 'actor',
  parameters: { model: weights({ base: 'scripted' }) },
  run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
})

/** Looks the word up, then answers with it. */
export const expert: Script = (prompt) => {
  const [, word] = /the word is (\w+)/.exec(prompt) ?? []
  return [word === undefined ? '!look {}' : `!answer {"word":"${word}"}`]
}

export interface AttemptOptions {
  readonly agent?: Agent
  readonly environment?: Environment
  readonly task?: Task
  readonly binding?: Partial<WeightsBinding>
  readonly contextLength?: number
  readonly now?: () => number
}

/** Runs one episode of {@link actor} in {@link wordEnvironment}. */
export function attempt(script: Script, options: AttemptOptions = {}): Promise<Trajectory> {
  const { agent = actor, environment = wordEnvironment, task = wordTask('t', 'plum'), binding, now = () => 0 } = options
  const model = scriptedModel(script, options)
  return runEpisode({
    id: TrajectoryId.parse('e0'),
    agent,
    environment,
    task,
    group: GroupId.parse('g'),
    attempt: 0,
    seed: 1,
    bindings: { model: model.binding({ now, ...binding }) },
    now,
  })
}
