import { expect, it } from 'vitest'
import { changedEnvironment } from '../../../test/support/changed-environment.ts'
import { answeredRight, wordEnvironment, wordTask } from '../../../test/support/word-environment.ts'
import type { Environment, LearnableTask, Message, Rubric } from '../../core/index.ts'
import { noAnswer, rubric, verifier } from '../../reward/index.ts'
import { verifierFindings } from './verifier-findings.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

const tasks = Array.from({ length: 20 }, (_, i) => wordTask(`t${i}`, `word${i}`) as LearnableTask)
const answer = (word: string): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name: 'answer', arguments: { word } }],
})
const demonstrations = tasks.map(({ instruction }, i) => ({
  messages: [{ role: 'user', content: instruction }, answer(`word${i}`)],
})) satisfies WrittenDemonstration[]
const honest = rubric({ solved: verifier(answeredRight) })

const look = (
  reward: Rubric,
  changes: {
    environment?: Environment
    demonstrations?: readonly WrittenDemonstration[]
    tasks?: readonly LearnableTask[]
  } = {},
) => verifierFindings({ environment: wordEnvironment, demonstrations, tasks, reward, now: () => 0, ...changes })
const told = async (...parameters: Parameters<typeof look>) =>
  (await look(...parameters)).map(({ code, severity, n, of }) => [code, severity, n, of])

it('finds nothing against a verifier that can tell', async () => {
  expect(await look(honest)).toEqual([])
  expect(await look(honest, { demonstrations: [] })).toEqual([])
  expect(await look(honest, { tasks: [] })).toEqual([])
})

it('stops a reward for doing nothing, and warns where it is for some tasks only', async () => {
  const yes = rubric({ solved: verifier(() => 1, 'yes') })
  const [first] = await look(yes)
  expect(first).toMatchObject({ code: 'learn/reward-for-nothing', severity: 'stop', n: 16, of: 16 })
  expect(first?.message).toContain(
    'The reward is earned by doing nothing: 16 of 16 episodes succeed when closed at once, without an act.',
  )
  const solvedAlready = tasks.map((task, i) => (i === 0 ? { ...task, data: { secret: null } } : task))
  expect(await told(honest, { tasks: solvedAlready })).toEqual([['learn/reward-for-nothing', 'warn', 1, 16]])
})

it('stops a reward for wrong acts, also where a guard hides that nothing is rewarded', async () => {
  const guards = [noAnswer()]
  const yes = rubric({ solved: verifier(() => 1, 'yes') }, { guards })
  const spoken: WrittenDemonstration[] = tasks.map(({ instruction }, i) => ({
    messages: [
      { role: 'user', content: instruction },
      { role: 'assistant', content: `word${i}` },
    ],
  }))
  expect(await told(yes, { demonstrations: spoken })).toEqual([['learn/reward-for-wrong-acts', 'stop', 8, 8]])
  expect(await told(yes, { demonstrations: [] })).toEqual([['learn/reward-for-wrong-acts', 'stop', 8, 8]])
  expect(await told(yes, { demonstrations: [], tasks: tasks.slice(0, 2) })).toEqual([
    ['learn/reward-for-wrong-acts', 'warn', 2, 2],
  ])
})

it('takes acts that are the same for no wrong ones', async () => {
  const alike = tasks.map((task) => ({ ...task, data: { secret: 'same' } }))
  const shown = demonstrations.map(({ messages }) => ({ messages: [messages[0]!, answer('same')] }))
  expect(await look(honest, { tasks: alike, demonstrations: shown })).toEqual([])
})

it('finds a reward that is the same whatever is done', async () => {
  const half = rubric({ solved: verifier(() => 0.5, 'half') })
  const [finding, ...more] = await look(half)
  expect(more).toEqual([])
  expect(finding).toMatchObject({ code: 'learn/constant-reward', severity: 'stop', n: 32, of: 32 })
  expect(finding?.message).toContain('The reward is 0.5 whatever is done')
  const never = rubric({ solved: verifier(() => 0, 'never') })
  expect(await told(never)).toEqual([['learn/constant-reward', 'warn', 32, 32]])
})

it('finds a rubric that throws, and one that has no evidence', async () => {
  const throwing: Rubric = { ...honest, score: () => Promise.reject(new Error('the judge\nis down')) }
  const [thrown] = await look(throwing)
  expect(thrown).toMatchObject({ code: 'learn/reward-throws', severity: 'stop', example: 'the judge?is down' })
  const silent = rubric({ solved: verifier(() => null, 'silent') })
  expect(await told(silent)).toEqual([['learn/reward-missing', 'stop', 32, 32]])
  expect(await told(silent, { demonstrations: [] })).toEqual([['learn/reward-missing', 'warn', 24, 24]])
})

it('says nothing of the reward where the environment fails', async () => {
  const environment = changedEnvironment(wordEnvironment, { close: () => Promise.reject(new Error('stuck')) })
  expect(await look(honest, { environment })).toEqual([])
})
