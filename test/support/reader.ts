import { defineAgent, user, weights } from '../../src/agent/index.ts'
import type { Environment, Message, ModelService, Store, Task } from '../../src/core/index.ts'
import { leaveOneOut } from '../../src/credit/index.ts'
import { pairedGate } from '../../src/gate/index.ts'
import { learn, type LearnEvent, type RolloutOptions, rollouts, type Schedule } from '../../src/learn/index.ts'
import { policyGradient } from '../../src/optimize/weights/index.ts'
import { rubric, verifier } from '../../src/reward/index.ts'
import { type PractisedModelOptions, practisedModel } from './practised-model.ts'
import { answeredRight, wordEnvironment, wordTask } from './word-environment.ts'

/** An agent that answers with a word after it has looked at it, or without. */
export const reader = defineAgent({
  name: 'reader',
  parameters: { model: weights({ base: 'words', rank: 4 }) },
  run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
})

const tasksOf = (split: Task['split'], count: number) =>
  Array.from({ length: count }, (_, i) => wordTask(`${split}-${i}`, `secret${i}`, split))
/** What the reader learns, chooses and is judged on. */
export const readerTasks = [...tasksOf('train', 24), ...tasksOf('validation', 30), ...tasksOf('holdout', 60)]

const schedule: Partial<Schedule> = {
  primePasses: 2,
  updates: 5,
  tasks: 6,
  attempts: 4,
  validateEvery: 2,
  validationTasks: 30,
  holdoutTasks: 60,
  allocation: 'uniform',
  rounds: 1,
  imitation: 0,
  explorationTasks: 0,
  averaging: 0,
  patience: null,
  target: null,
}

/** What a test changes of the reader's run. */
export interface ReaderChanges extends Partial<Omit<RolloutOptions, 'model' | 'schedule'>> {
  readonly model?: PractisedModelOptions
  readonly schedule?: Partial<Schedule>
  readonly environment?: Environment
  /** Puts a service in the place of the practised one. */
  readonly service?: (practised: ModelService) => ModelService
}

/** One run of the reader, with what it told and what it sampled. */
export async function runReader(
  store: Store,
  {
    model,
    schedule: changed,
    environment = wordEnvironment,
    service = (practised) => practised,
    ...changes
  }: ReaderChanges = {},
) {
  const practised = practisedModel(model)
  const events: LearnEvent[] = []
  const messages: Message[] = [
    { role: 'user', content: 'What is the word of x?' },
    { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
  ]
  const summary = await learn(reader, {
    model: service(practised.service),
    store,
    source: rollouts(environment, readerTasks),
    prime: { demonstrations: [{ messages }] },
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    credit: leaveOneOut(),
    optimize: { model: policyGradient() },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    schedule: { ...schedule, ...changed },
    onEvent: (event) => events.push(event),
    ...changes,
  })
  const of = <T extends LearnEvent['type']>(type: T) =>
    events.filter((event): event is Extract<LearnEvent, { type: T }> => event.type === type)
  return { summary, events, of, practised }
}
