import { expect, it } from 'vitest'
import { type LearnableTask, Task } from '../../core/index.ts'
import { answerByStratum, commonestAnswer, constantAnswer } from './baselines.ts'
import { Corpus } from './corpus.ts'
import { play, scorePolicy } from '../play.ts'
import { verify } from './verify.ts'
import { SearchEnvironment } from './search-environment.ts'

const environment = new SearchEnvironment(new Corpus([{ id: '1', title: 'Oslo', lines: ['x'] }]))
const taskOf = (id: string, tier: string, ...accepted: string[]) =>
  Task.parse({ id, instruction: `${id}?`, data: { accepted }, split: 'train', tier }) as LearnableTask
const tasks = [
  taskOf('a', 'easy', 'edge 9', '9'),
  taskOf('b', 'easy', 'chrome 9', '9'),
  taskOf('c', 'easy', 'edge 8', '8'),
  taskOf('d', 'hard', 'yes'),
  taskOf('e', 'hard', 'YES'),
  taskOf('f', 'hard', 'no'),
]

it('counts an answer for every task that accepts it', () => {
  expect(commonestAnswer(tasks.slice(0, 3))).toEqual({ answer: '9', share: 2 / 3 })
  expect(commonestAnswer(tasks.slice(3))).toEqual({ answer: 'yes', share: 2 / 3 })
  expect(commonestAnswer([])).toEqual({ answer: 'unknown', share: 0 })
})

it('gives the best constant of each tier', async () => {
  expect(await scorePolicy(environment, constantAnswer(tasks), tasks, verify)).toEqual({ n: 6, successes: 4 })
})

it('knows nothing of a stratum that it has not seen', async () => {
  const policy = answerByStratum(tasks.slice(0, 3), (task) => task.tier ?? '')
  const { finalState, success } = await play(environment, policy, taskOf('d', 'hard', 'yes'), verify)
  expect(finalState.state).toMatchObject({ answer: 'unknown' })
  expect(success).toBe(false)
})

it('records a whole conversation as it was played', async () => {
  const { messages, actions } = await play(environment, constantAnswer(tasks), taskOf('g', 'hard', 'yes'), verify)
  const call = { name: 'answer', arguments: { text: 'yes' } }
  expect(actions).toEqual([{ kind: 'calls', calls: [call] }])
  expect(messages).toEqual([
    { role: 'user', content: 'g?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', name: 'answer', content: 'answered' },
  ])
})
