import { type Agent, bindingsOf, defaultBudget, type EpisodeBudget, runEpisode } from '../agent/index.ts'
import {
  type AdapterRef,
  GroupId,
  type Message,
  type ModelService,
  seedOf,
  type Task,
  TrajectoryId,
  VersionId,
} from '../core/index.ts'
import { verify } from '../environment/search/index.ts'
import type { RolloutSource } from '../learn/index.ts'

/** One question put to an agent, and everything that was said until the answer. */
export interface Asked {
  readonly task: Task
  readonly messages: readonly Message[]
  readonly correct: boolean
}

/** Puts a task to the agent with the given adapter, greedily, and returns the conversation. */
export async function ask(
  agent: Agent,
  model: ModelService,
  adapter: AdapterRef | null,
  { environment }: Pick<RolloutSource, 'environment'>,
  task: Task,
  budget: EpisodeBudget = defaultBudget,
): Promise<Asked> {
  const trajectory = await runEpisode({
    id: TrajectoryId.parse(`ask/${task.id}`),
    agent,
    environment,
    task,
    group: GroupId.parse(`ask/${task.id}`),
    attempt: 0,
    seed: seedOf('ask', task.id),
    now: Date.now,
    bindings: bindingsOf(agent, {
      seed: seedOf('ask', task.id),
      values: () => undefined,
      weights: () => ({
        inForce: { version: VersionId.parse('asked'), generation: 0, checkpoint: null },
        sampler: model.sampler,
        renderer: model.renderer,
        adapter,
        sampling: { temperature: 0 },
        budget,
        seed: seedOf('ask', task.id),
        now: Date.now,
      }),
    }),
  })
  return {
    task,
    messages: trajectory.nodes.map(({ message }) => message),
    correct: trajectory.finalState !== null && verify(trajectory.finalState) === 1,
  }
}
