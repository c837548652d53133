import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { present } from '../errors/index.ts'
import { LearnConfig } from './learn-config.ts'
import { openSearchJob } from './search-job.ts'

const { renderer } = scriptedModel(() => [])
const task = (id: string, split: string, tier?: string) =>
  JSON.stringify({ id, instruction: 'What colour is a lemon?', answer: 'yellow', split, ...(tier ? { tier } : {}) })
const files = {
  corpus: JSON.stringify({ id: 'lemon', title: 'lemon', lines: ['yellow'] }),
  tasks: [task('a', 'train'), task('b', 'train', 'hard'), task('c', 'validation'), task('d', 'holdout')].join('\n'),
  demonstrations: JSON.stringify({
    messages: [
      { role: 'user', content: 'What colour is a lemon?' },
      { role: 'assistant', content: '', toolCalls: [{ name: 'answer', arguments: { text: 'yellow' } }] },
    ],
  }),
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-job-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function open(tiers?: readonly string[], changed: Partial<typeof files> = {}) {
  const path = (name: keyof typeof files) => join(folder, `${name}.jsonl`)
  const all = { ...files, ...changed }
  for (const name of ['corpus', 'tasks', 'demonstrations'] as const) writeFileSync(path(name), all[name])
  const environment = { corpus: path('corpus'), tasks: path('tasks'), ...(tiers ? { tiers } : {}) }
  const config = LearnConfig.parse({ environment, demonstrations: path('demonstrations') })
  return openSearchJob(config, 0, renderer, (text) => text.length)
}

it('learns from the tiers that are named, or from all; a task without one is of the tier "all"', async () => {
  const trained = async (tiers?: readonly string[]) => (await open(tiers)).source.train.map(({ id }) => id)
  expect(await trained()).toEqual(['a', 'b'])
  await expect(trained(['hard'])).rejects.toThrow('No validation task is of a tier that is trained (hard).')
  expect(await trained(['all'])).toEqual(['a'])
})

it('scores what answers without a look at any document, task by task, and wants it beaten', async () => {
  const { source, baselines } = await open()
  expect(await baselines(source.holdout)).toEqual([
    { name: 'constant answer', beat: true, scores: new Map([['d', 1]]) },
    { name: 'empty tools', beat: true, scores: new Map([['d', 1]]) },
  ])

  const asked = (id: string, split: string, instruction: string, answer: string) =>
    JSON.stringify({ id, instruction, answer, split })
  const kinds = [
    ...['a', 'b', 'c'].map((id) => asked(id, 'train', `Which colour has ${id}?`, 'yellow')),
    ...['d', 'e'].map((id) => asked(id, 'train', `Is it sour: ${id}?`, 'yes')),
    asked('f', 'validation', 'Is it sour: f?', 'yes'),
    asked('g', 'holdout', 'Is it sour: g?', 'yes'),
    asked('h', 'holdout', 'Which colour has h?', 'yellow'),
  ]
  const job = await open(undefined, { tasks: kinds.join('\n') })
  const scores = (await job.baselines(job.source.holdout)).map(({ name, scores }) => [name, ...scores.values()])
  expect(scores).toEqual([
    ['constant answer', 0, 1],
    ['empty tools', 1, 1],
  ])
})

it('wants the careless policies of the mdn job beaten, and not the expert', async () => {
  const job = await openSearchJob(LearnConfig.parse({}), 0, renderer, () => 1)
  const judged = job.source.holdout.filter(({ tier }) => tier === 'single-hop').slice(0, 20)
  const scripted = await job.baselines(judged)
  expect(scripted.map(({ name, beat }) => [name, beat])).toEqual([
    ['constant answer', true],
    ['empty tools', true],
    ['first hit', true],
    ['scripted expert', false],
  ])
  expect([...(scripted.at(-1)?.scores.values() ?? [])]).toEqual(judged.map(() => 1))
})

it('scores every tier of the mdn corpus, the reworded ones by what their kinds of question taught', async () => {
  const both = { environment: { tiers: ['single-hop', 'composed'] } }
  const job = await openSearchJob(LearnConfig.parse(both), 0, renderer, (text) => text.length / 3)
  const reworded = job.source.holdout.filter(({ tier }) => tier?.endsWith(' reworded'))
  const scripted = await job.baselines(reworded)
  for (const tier of ['single-hop reworded', 'composed reworded']) {
    const ofTier = reworded.filter((task) => task.tier === tier)
    const successOf = (script: string) => {
      const { scores } = present(
        scripted.find(({ name }) => name === script),
        script,
      )
      return ofTier.filter(({ id }) => scores.get(id) === 1).length / ofTier.length
    }
    expect(successOf('scripted expert')).toBe(1)
    for (const careless of ['constant answer', 'empty tools', 'first hit']) {
      expect(successOf(careless), `${careless}, ${tier}`).toBeGreaterThan(0)
      expect(successOf(careless), `${careless}, ${tier}`).toBeLessThan(0.35)
    }
  }
})

it('measures the tiers of the mdn corpus that are learned, in seen and in held-out wordings', async () => {
  const { source } = await openSearchJob(LearnConfig.parse({}), 0, renderer, (text) => text.length / 3)
  const tiersOf = (tasks: readonly { readonly tier?: string | undefined }[]) => [
    ...new Set(tasks.map(({ tier }) => tier)),
  ]
  expect(tiersOf(source.train)).toEqual(['single-hop'])
  expect(tiersOf(source.validation)).toEqual(['single-hop'])
  expect(tiersOf(source.holdout)).toEqual(['single-hop', 'single-hop reworded'])
})

it('names the tier that was meant', async () => {
  await expect(open(['hart'])).rejects.toMatchObject({
    code: 'input/unknown-tier',
    message: expect.stringContaining('did you mean "hard"?') as string,
    hint: expect.stringContaining('"all", "hard"') as string,
  })
})

it('does not take an empty file for "no demonstrations"', async () => {
  expect((await open()).demonstrations).toHaveLength(1)
  await expect(open(undefined, { demonstrations: '\n' })).rejects.toMatchObject({
    code: 'environment/malformed-corpus',
  })
})

it('refuses tasks of one’s own beside the mdn corpus, which would be ignored', async () => {
  const config = LearnConfig.parse({ environment: { tasks: 'tasks.jsonl' } })
  await expect(openSearchJob(config, 0, renderer, (text) => text.length)).rejects.toThrow('has tasks of its own')
})

it('refuses tasks whose answers stand in no document, and warns of a few', async () => {
  const asked = (id: string, split: string, answer: string) =>
    JSON.stringify({ id, instruction: 'What colour is a lemon?', answer, split })
  const right = ['a', 'b', 'c', 'd'].map((id) => asked(id, 'train', 'yellow'))
  const held = [asked('e', 'validation', 'yellow'), asked('f', 'holdout', 'yellow')]
  const warned = await open(undefined, { tasks: [...right, ...held, asked('g', 'train', 'cobalt')].join('\n') })
  expect(warned.warnings).toEqual([expect.stringContaining('"cobalt" of the task "g"')])
  expect((await open()).warnings).toEqual([])
  const sums = ['240', '512', '333'].map((sum, i) => asked(`s${i}`, 'train', sum))
  const summed = await open(undefined, { tasks: [...right, ...held, ...sums].join('\n') })
  expect(summed.warnings).toEqual([expect.stringContaining('3 of 9 tasks')])

  const wrong = [asked('g', 'train', 'cobalt'), asked('h', 'train', 'jade')]
  await expect(open(undefined, { tasks: [...right, ...held, ...wrong].join('\n') })).rejects.toMatchObject({
    code: 'input/unanswerable-tasks',
    message: expect.stringMatching(/^2 of 8 tasks of .* "cobalt" of the task "g", "jade" of the task "h"\.$/) as string,
  })
})
