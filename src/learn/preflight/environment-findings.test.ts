import { expect, it } from 'vitest'
import { type Changes, changedEnvironment } from '../../../test/support/changed-environment.ts'
import { wordEnvironment, wordTask } from '../../../test/support/word-environment.ts'
import type { LearnableTask } from '../../core/index.ts'
import { environmentFindings } from './environment-findings.ts'

const tasks = Array.from({ length: 20 }, (_, i) => wordTask(`t${i}`, 'plum') as LearnableTask)
const countTokens = (text: string) => Math.ceil(text.length / 4)

const look = (changes: Changes = {}, more: { contextLength?: number; tasks?: readonly LearnableTask[] } = {}) =>
  environmentFindings({
    environment: changedEnvironment(wordEnvironment, changes),
    tasks,
    countTokens,
    contextLength: 512,
    callSeconds: 0.02,
    now: () => 0,
    ...more,
  })

it('finds nothing in an environment that works', async () => {
  expect(await look()).toEqual([])
  expect(await look({}, { tasks: [] })).toEqual([])
})

it.each<[string, Changes, string, string, string]>([
  ['throws on opening', { open: () => Promise.reject(new Error('no\nroom')) }, 'open', 'stop', '"no?room"'],
  ['opens nothing', { open: () => null }, 'open', 'stop', 'open returned null'],
  ['opens without an opening', { opening: undefined }, 'open', 'stop', '(opening)'],
  ['opens without a list of tools', { tools: 'search' }, 'open', 'stop', '(tools)'],
  ['never opens', { open: () => new Promise(() => {}) }, 'open', 'stop', 'open did not return within 0.02 s'],
  [
    'throws in a step',
    {
      step: () => {
        throw new Error('x'.repeat(1e6))
      },
    },
    'step',
    'warn',
    'a call of "look": xxx',
  ],
  ['returns nothing', { step: () => undefined }, 'step', 'warn', 'step returned undefined'],
  ['throws on closing', { close: () => Promise.reject(new Error('stuck')) }, 'close', 'stop', 'stuck'],
  ['closes with nothing', { close: () => undefined }, 'close', 'stop', 'close returned undefined'],
])('an environment that %s is a finding', async (_, changes, call, severity, words) => {
  const [finding, ...more] = await look(changes)
  expect(more).toEqual([])
  expect(finding).toMatchObject({ code: `learn/environment-${call}`, severity, n: 8, of: 8 })
  expect(finding?.message).toContain(words)
  expect(finding?.message.length).toBeLessThan(500)
})

it('warns where a few tasks do not open', async () => {
  const open = (task: { id: string }) =>
    task.id === 't0' ? Promise.reject(new Error('gone')) : wordEnvironment.open(tasks[1]!, 0)
  expect(await look({ open })).toEqual([
    expect.objectContaining({ code: 'learn/environment-open', severity: 'warn', n: 1, of: 8 }),
  ])
})

it('finds an opening with nothing in it, and missing or unusable tools', async () => {
  const codes = async (changes: Changes) => (await look(changes)).map(({ code, severity }) => [code, severity])
  expect(await codes({ opening: [] })).toEqual([['learn/empty-opening', 'warn']])
  expect(await codes({ opening: [{ role: 'user', content: ' \n' }] })).toEqual([['learn/empty-opening', 'warn']])
  expect(await codes({ tools: [] })).toEqual([['learn/no-tools', 'warn']])
  const tool = { name: 'look', description: '', parameters: {} }
  expect(await codes({ tools: [tool, tool] })).toEqual([['learn/bad-tool', 'stop']])
  const [finding] = await look({ tools: [{ ...tool, name: 'two words' }] })
  expect(finding?.message).toContain('tool 1 has no usable name')
})

it('finds what does not fit the context', async () => {
  const [short] = await look({}, { contextLength: 20 })
  expect(short).toMatchObject({ code: 'learn/long-opening', severity: 'stop', n: 8, of: 8 })

  let counted = 0
  const megabyte = await environmentFindings({
    environment: changedEnvironment(wordEnvironment, {
      step: () => ({ messages: [{ role: 'tool', name: 'look', content: 'x'.repeat(1e6) }], done: false }),
    }),
    tasks,
    countTokens: (text) => {
      counted = Math.max(counted, text.length)
      return countTokens(text)
    },
    contextLength: 512,
    now: () => 0,
  })
  expect(megabyte).toMatchObject([{ code: 'learn/long-observation', severity: 'warn', n: 8, of: 8 }])
  expect(megabyte[0]?.message).toContain('a call of "look" returns about 250000 tokens')
  expect(counted).toBeLessThan(10_000)
})
