import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { changedEnvironment } from '../../../test/support/changed-environment.ts'
import { answeredRight, wordEnvironment, wordTask } from '../../../test/support/word-environment.ts'
import type { Environment, LearnableTask, Message, Rubric } from '../../core/index.ts'
import { noAnswer, perToolCall, rubric, verifier } from '../../reward/index.ts'
import { replayDemonstrations } from './replay-findings.ts'
import type { WrittenDemonstration } from './written-demonstration.ts'

const secrets = ['plum', 'pear', 'fig', 'lime', 'kiwi', 'date']
const tasks = secrets.map((secret, i) => wordTask(`t${i}`, secret) as LearnableTask)
const reward = rubric({ solved: verifier(answeredRight) }, { guards: [noAnswer({ tool: 'answer' })] })

const call = (name: string, given: Record<string, string> = {}): Message => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name, arguments: given }],
})
const shown = (i: number, word = secrets[i]!, seen = secrets[i]!): readonly Message[] => [
  { role: 'user', content: `What is the word of t${i}?` },
  call('look'),
  { role: 'tool', name: 'look', content: `the word is ${seen}` },
  call('answer', { word }),
]
const good = tasks.map((_, i): WrittenDemonstration => ({ messages: shown(i) }))
const swapped = (n: number, messages: (i: number) => readonly Message[]) =>
  good.map((one, i) => (i < n ? { messages: messages(i) } : one))

const replay = (
  demonstrations: readonly WrittenDemonstration[],
  changes: { environment?: Environment; reward?: Rubric; callSeconds?: number; signal?: AbortSignal } = {},
) => replayDemonstrations({ environment: wordEnvironment, demonstrations, tasks, reward, now: () => 0, ...changes })
const look = async (...parameters: Parameters<typeof replay>) => (await replay(...parameters)).findings
const told = async (...parameters: Parameters<typeof look>) =>
  (await look(...parameters)).map(({ code, severity, n, of }) => [code, severity, n, of])

it('finds nothing in demonstrations that earn the reward as they show it', async () => {
  expect(await look(good)).toEqual([])
  expect(await look([])).toEqual([])
  expect(
    await look(
      good.map(({ messages }) => ({ messages: [...messages, { role: 'tool', name: 'answer', content: 'answered' }] })),
    ),
  ).toEqual([])
})

it('warns of some that do not earn it, and stops for most', async () => {
  const wrong = (i: number) => shown(i, 'mud')
  const [finding] = await look(swapped(2, wrong))
  expect(finding).toMatchObject({ code: 'learn/unrewarded-demonstration', severity: 'warn', n: 2, of: 6 })
  expect(finding?.message).toBe(
    '2 of 6 replayed demonstrations do not earn the whole reward. For example, demonstration 1 earns 0 of 1. Not imitated: 2, which earn half or less.',
  )
  expect((await replay(swapped(2, wrong))).unearned).toEqual([0, 1])
  expect(await told(swapped(4, wrong))).toEqual([['learn/unrewarded-demonstration', 'stop', 4, 6]])
})

it('leaves none out that the environment does not answer as it shows', async () => {
  const { findings, unearned } = await replay(swapped(2, (i) => shown(i, 'mud', i === 0 ? 'mud' : secrets[i])))
  expect(unearned).toEqual([1])
  expect(findings[0]?.message).toContain('Not imitated: 1, which earn half or less.')
})

it('leaves those out that earn little under any seed, whatever others do', async () => {
  let rolls = 0
  const environment = changedEnvironment(wordEnvironment, {
    close: (episode) => {
      const { state, counts } = episode.close() as {
        readonly state: { readonly answer: string | null }
        readonly counts: object
      }
      return {
        state: state.answer === 'luck' ? { ...state, secret: ++rolls % 2 === 0 ? 'luck' : 'none' } : state,
        counts,
      }
    },
  })
  const { unearned } = await replay(
    swapped(2, (i) => shown(i, i === 0 ? 'luck' : 'mud')),
    { environment },
  )
  expect(unearned).toEqual([1])
})

it('names the guard that vetoes', async () => {
  const [finding] = await look(swapped(1, (i) => [...shown(i).slice(0, 3), { role: 'assistant', content: 'plum' }]))
  expect(finding?.message).toContain('the guard "no-answer" says:')
})

it('stops for no reward that acts cost something of', async () => {
  const costly = rubric({ solved: verifier(answeredRight), effort: perToolCall(-0.02) })
  expect(await told(good, { reward: costly })).toEqual([])
  expect((await replay(good, { reward: costly })).unearned).toEqual([])
})

it('stops for nothing that another seed changes', async () => {
  let opened = 0
  const chance = changedEnvironment(wordEnvironment, {
    step: async (episode, action) => {
      const { messages } = await episode.step(action)
      return { messages: messages.map((message) => ({ ...message, content: `roll ${++opened}` })), done: false }
    },
    close: () => ({ state: { answer: 'a', secret: 'b' }, counts: {} }),
  })
  const { findings, unearned } = await replay(good, { environment: chance })
  expect(unearned).toEqual([])
  expect(findings.map(({ code, severity }) => [code, severity])).toEqual([
    ['learn/unrewarded-demonstration', 'warn'],
    ['learn/other-observations', 'warn'],
    ['learn/unfinished-demonstration', 'warn'],
  ])
})

it('finds results that the environment does not give', async () => {
  const [finding, ...more] = await look(swapped(1, (i) => shown(i, secrets[i], 'mud\nand more')))
  expect(more).toEqual([])
  expect(finding?.message).toBe(
    '1 of 6 replayed demonstrations shows results that the environment does not give. For example, demonstration 1 shows "the word is mud?and more" where the environment returns "the word is plum".',
  )
})

it('finds the ones that end before the episode does', async () => {
  const open = await told(swapped(1, (i) => shown(i).slice(0, 3)))
  expect(open).toContainEqual(['learn/unfinished-demonstration', 'warn', 1, 6])
})

it('plays nothing after the environment has ended the episode', async () => {
  const answered: Message = { role: 'tool', name: 'answer', content: 'answered' }
  expect(await look(swapped(1, (i) => [...shown(i), answered, call('answer', { word: 'mud' })]))).toEqual([])
})

it('plays only what is about a known task, found by id, by instruction, or by the opening', async () => {
  const stranger = { messages: shown(0, 'mud').with(0, { role: 'user', content: 'Something else?' }) }
  expect(await look([stranger])).toEqual([])
  expect(await told([{ ...stranger, task: tasks[0]! }])).toEqual([['learn/unrewarded-demonstration', 'stop', 1, 1]])
  const both = await look([stranger, { messages: shown(0, 'mud') }])
  expect(both[0]?.message).toContain('1 more are about no training task and were not played')

  const opening: Message = { role: 'user', content: `Task: ${tasks[0]!.instruction} Good luck.` }
  const wrapped = { messages: shown(0, 'mud').with(0, opening) }
  const environment = changedEnvironment(wordEnvironment, { opening: [opening] })
  expect(await look([wrapped])).toEqual([])
  expect(await told([wrapped], { environment })).toEqual([['learn/unrewarded-demonstration', 'stop', 1, 1]])
})

it('tries each task that has the same instruction', async () => {
  const twins = ['mud', 'plum'].map((secret, i) => ({
    ...wordTask(`twin${i}`, secret),
    instruction: tasks[0]!.instruction,
  }))
  const played = await replayDemonstrations({
    environment: wordEnvironment,
    demonstrations: [good[0]!],
    tasks: twins as LearnableTask[],
    reward,
    now: () => 0,
  })
  expect(played).toMatchObject({ findings: [], unearned: [], played: [{ number: 1, refusedCalls: 0, reward: 1 }] })
})

it.each<[string, Parameters<typeof changedEnvironment>[1], string]>([
  ['throws on opening', { open: () => Promise.reject(new Error('no\nroom')) }, 'no?room'],
  ['opens nothing', { open: () => undefined }, 'open returned undefined'],
  [
    'throws in a step',
    {
      step: () => {
        throw new Error('x'.repeat(1e6))
      },
    },
    'xxx',
  ],
  ['returns nothing', { step: () => undefined }, 'step returned undefined'],
  ['throws on closing', { close: () => Promise.reject(new Error('stuck')) }, 'stuck'],
  [
    'throws no error',
    {
      close: () => {
        throw null
      },
    },
    'null',
  ],
  ['never answers', { step: () => new Promise(() => {}) }, 'step did not return within 0.02 s'],
])('an environment that %s is a finding', async (_, changes, words) => {
  const findings = await look(good.slice(0, 2), {
    environment: changedEnvironment(wordEnvironment, changes),
    callSeconds: 0.02,
  })
  expect(findings.map(({ code, severity, n, of }) => [code, severity, n, of])).toEqual([
    ['learn/replay-broke', 'stop', 2, 2],
  ])
  expect(findings[0]?.message).toContain(words)
  expect(findings[0]?.message.length).toBeLessThan(500)
})

it('a megabyte of observation is quoted in part', async () => {
  const environment = changedEnvironment(wordEnvironment, {
    step: async (episode, action) => {
      const { messages, done } = await episode.step(action)
      return { messages: messages.map((message) => ({ ...message, content: 'x'.repeat(1e6) })), done }
    },
  })
  const findings = await look(good, { environment })
  expect(findings.map(({ code }) => code)).toEqual(['learn/other-observations'])
  expect(findings[0]?.message.length).toBeLessThan(500)
})

it('a rubric that throws is a finding', async () => {
  const throwing = {
    ...reward,
    score: () => {
      throw new Error('no judge')
    },
  }
  expect(await told(good, { reward: throwing })).toEqual([['learn/reward-throws', 'stop', 6, 6]])
})

it('plays no more than 32 demonstrations, begins none when time is up, and stops when told to', async () => {
  let opened = 0
  const environment = changedEnvironment(wordEnvironment, {
    open: (task) => {
      opened++
      return wordEnvironment.open(task, 0)
    },
  })
  const many = Array.from({ length: 100 }, (_, i) => good[i % good.length]!)
  await look(many, { environment })
  expect(opened).toBe(32)
  const wrong = many.map((one, i) => (i % 6 === 2 ? { messages: shown(2, 'mud') } : one))
  opened = 0
  const { unearned, findings } = await replay(wrong, { environment })
  expect(unearned, 'all are played where one earns nothing').toEqual(wrong.flatMap((_, i) => (i % 6 === 2 ? [i] : [])))
  expect(findings).toMatchObject([{ severity: 'warn', n: unearned.length, of: 100 }])
  expect(opened, 'each of those under another seed, too').toBe(100 + unearned.length)

  opened = 32
  let time = 0
  await replayDemonstrations({
    environment,
    demonstrations: many,
    tasks,
    reward,
    now: () => (time += 10_000),
    seconds: 60,
  })
  expect(opened).toBeLessThan(32 + 7)
  await expect(look(good, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
})

it('plays any acts without throwing', async () => {
  const text = fc.constantFrom('', 'look', 'answer', 'x', 'What is the word of t0?', '\u0000')
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({ role: fc.constantFrom('user' as const, 'system' as const), content: text }),
    fc.record({ role: fc.constant('tool' as const), name: text, content: text }),
    fc.record({ role: fc.constant('assistant' as const), content: text }),
    text.map((name) => call(name || 'x', { word: 'plum' })),
  )
  const messages = fc.array(message, { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ messages }), { maxLength: 4 }), async (demonstrations) => {
      const named = demonstrations.map((one) => ({ ...one, task: tasks[0]! }))
      for (const { n, of } of [...(await look(demonstrations)), ...(await look(named))])
        expect(n).toBeLessThanOrEqual(of)
    }),
    { numRuns: 50 },
  )
})
