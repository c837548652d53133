import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { practisedModel } from '../../../test/support/practised-model.ts'
import { wordEnvironment } from '../../../test/support/word-environment.ts'
import { defineAgent, parameter, text, user, weights } from '../../agent/index.ts'
import type { Environment, Kind, Store } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { Registry } from '../registry.ts'
import { deploy } from './deploy.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** A number that an agent says, and each time that it does. */
const number: Kind<'number', number, number, { say(): number }, number> = {
  kind: 'number',
  value: z.number(),
  made: z.number(),
  handle: ({ value }, recorder) => ({
    say() {
      recorder.decide({ made: value, propensity: { log: 0 } })
      return value
    },
  }),
  deposit: (decided) => decided.map(({ made }) => made),
}

const teller = defineAgent({
  name: 'teller',
  parameters: { n: parameter(number, 7), tone: text('Be brief.') },
  async run(_task, { n }, episode) {
    await episode.step({ kind: 'message', content: String(n.say()) })
    n.say()
    return { stopReason: 'done', message: null }
  },
})

it('records a session as traffic, with what served it and what was decided in it', async () => {
  const deployment = await deploy(teller, { store, environment: wordEnvironment })
  const data = { secret: 'plum' }
  const trajectory = await deployment.run({ instruction: 'Say it.', data, session: 'visit', subject: 'ada' })
  await deployment.close()

  const { release } = await new Registry(store).current('teller')
  expect(trajectory.origin).toMatchObject({
    kind: 'traffic',
    agent: 'teller',
    session: 'visit',
    subject: 'ada',
    train: true,
    servedBy: { release: release.id, canary: null },
  })
  // What the program says through its environment is no turn of a model: no words of it are kept.
  expect(trajectory).toMatchObject({ nodes: [], stopReason: 'done', failure: null, task: { instruction: 'Say it.' } })
  expect(
    trajectory.decisions.map(({ kind, made, version, generation, checkpoint }) => [
      kind,
      made,
      version,
      generation,
      checkpoint,
    ]),
  ).toEqual([
    ['number', 7, release.versions['n'], 1, null],
    ['number', 7, release.versions['n'], 1, null],
  ])
  expect((await store.trajectories.summaries({ agent: 'teller', limit: 10 })).map(({ id }) => id)).toEqual([
    trajectory.id,
  ])
})

it('keeps each session apart, and a failure inside one is its stop reason', async () => {
  const failing = defineAgent({ ...teller, run: () => Promise.reject(new Error('no luck')) })
  const deployment = await deploy(failing, { store, environment: wordEnvironment })
  const asked = { instruction: 'Say it.', data: { secret: 'plum' } }
  const [one, two] = await Promise.all([deployment.run(asked), deployment.run(asked)])
  await deployment.close()
  expect(one.id).not.toBe(two.id)
  expect(one).toMatchObject({ stopReason: 'agent-error', failure: { message: 'no luck' } })
  expect(await store.trajectories.count({ agent: 'teller' })).toBe(2)
})

const reader = defineAgent({
  name: 'reader',
  parameters: { model: weights({ base: 'words' }) },
  run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
})

it('answers for weights with a model, as they serve; and is refused without', async () => {
  await expect(deploy(reader, { store, environment: wordEnvironment })).rejects.toMatchObject({
    code: 'release/no-model',
  })
  expect(await store.releases.list({ limit: 1 })).toEqual([])
  const { service } = practisedModel()
  const deployment = await deploy(reader, { store, environment: wordEnvironment, model: service })
  const { decisions, nodes } = await deployment.run({ instruction: 'What is the word?', data: { secret: 'plum' } })
  await deployment.close()
  expect(decisions[0]).toMatchObject({ kind: 'weights', parameter: 'model', generation: 1 })
  expect(decisions[0]?.made).toBeUndefined()
  expect(nodes.some(({ spans }) => spans.some(({ kind }) => kind === 'sampled'))).toBe(true)
})

it('acts as declared where a release of before a Parameter was declared serves again', async () => {
  const young = defineAgent({
    ...teller,
    parameters: { n: teller.parameters.n },
    run: () => Promise.resolve({ stopReason: 'done', message: null }),
  })
  await (await deploy(young, { store, environment: wordEnvironment })).close()
  const registry = new Registry(store)
  const { release: before } = await registry.current('teller')
  const grown = defineAgent({
    ...teller,
    parameters: { ...teller.parameters, model: weights({ base: 'words' }) },
    async run(task, { tone, model }, episode) {
      await model.act([tone.message(), user(task.instruction)], episode)
      return { stopReason: 'done', message: null }
    },
  })
  const options = { store, environment: wordEnvironment, model: practisedModel().service, everyMs: 5 }
  const asked = { instruction: 'What is the word?', data: { secret: 'plum' } }
  const running = await deploy(grown, options)
  const declared = (await registry.current('teller')).release.versions
  await registry.rollback('teller', before.id)
  await vi.waitFor(async () => {
    expect((await running.run(asked)).origin).toMatchObject({ servedBy: { release: before.id } })
  })
  await running.close()
  const again = await deploy(grown, options)
  const { decisions, failure } = await again.run(asked)
  await again.close()
  expect(failure).toBeNull()
  const acted = Object.fromEntries(decisions.map(({ parameter, version }) => [parameter, version]))
  expect(acted).toEqual({ tone: declared['tone'], model: declared['model'] })
})

it('stops a session of an agent without weights when nobody waits for it any more', async () => {
  const stop = new AbortController()
  const environment: Environment = {
    name: 'slow',
    open: () => ({
      opening: [],
      tools: [],
      step: (_action, signal) =>
        new Promise((resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('stopped')))
          stop.abort()
          setImmediate(() => resolve({ messages: [], done: true }))
        }),
      close: () => ({ state: {}, counts: {} }),
    }),
  }
  const deployment = await deploy(teller, { store, environment })
  const trajectory = await deployment.run({ instruction: 'Say it.', signal: stop.signal })
  expect(trajectory).toMatchObject({ stopReason: 'cancelled', failure: null })
  const opening: Environment = {
    name: 'shut',
    open: (_task, _seed, signal) => Promise.reject(signal?.reason ?? new Error('nobody told it')),
  }
  const other = await deploy(teller, { store, environment: opening })
  expect(await other.run({ instruction: 'Say it.', signal: stop.signal })).toMatchObject({ stopReason: 'cancelled' })
  await Promise.all([deployment.close(), other.close()])
})

describe('keeps nothing that nobody could read again', () => {
  const asked = { instruction: 'Say it.', data: { secret: 'plum' } }

  it.each([
    ['subject', ''],
    ['subject', 7],
    ['session', 'x'.repeat(257)],
    ['train', 'yes'],
    ['instruction', 7],
    ['instruction', ''],
    ['data', { when: new Date(0) }],
    ['signal', {}],
  ])('refuses the request whose %s is %j, and names it', async (field, value) => {
    let opened = 0
    const environment = { ...wordEnvironment, open: () => Promise.reject(new Error(`opened ${++opened}`)) }
    const deployment = await deploy(teller, { store, environment })
    await expect(deployment.run({ ...asked, [field]: value })).rejects.toMatchObject({
      code: 'input/invalid',
      message: expect.stringContaining(`${field}: `),
    })
    await deployment.close()
    expect(opened).toBe(0)
    expect(await store.trajectories.count({})).toBe(0)
  })

  it('refuses a tenant that cannot be', async () => {
    const options = { store, environment: wordEnvironment, tenant: 'no tenant' }
    await expect(deploy(teller, options)).rejects.toMatchObject({ code: 'input/invalid' })
    expect(await store.releases.list({ limit: 1 })).toEqual([])
  })

  it.each([
    ['what is no message', { role: 'assistant', content: 7 }],
    ['what JSON cannot hold', { role: 'assistant', content: '', parts: [{ n: 1n }] }],
  ])('refuses a session in which the program said %s', async (_, message) => {
    const saying = defineAgent({
      name: 'sayer',
      parameters: { model: weights({ base: 'words' }) },
      async run(task, { model }, episode) {
        await model.act([user(task.instruction), message as never], episode)
        return { stopReason: 'done', message: null }
      },
    })
    const { service } = practisedModel()
    const renderer = { ...service.renderer, start: () => [1] }
    const deployment = await deploy(saying, { store, environment: wordEnvironment, model: { ...service, renderer } })
    await expect(deployment.run(asked)).rejects.toMatchObject({
      code: 'release/unreadable-session',
      message: expect.stringContaining('"nodes.1.message.'),
    })
    await deployment.close()
    expect(await store.trajectories.count({})).toBe(0)
  })
})
