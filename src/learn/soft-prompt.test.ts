import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeTinyModel } from '../../test/tiny/model.ts'
import { defineAgent, softPrompt, user, weights, type WeightsDefinition } from '../agent/index.ts'
import {
  asWeights,
  type Environment,
  type Message,
  type ModelService,
  savedAt,
  type Store,
  Task,
} from '../core/index.ts'
import { pairedGate } from '../gate/index.ts'
import { openEmbeddedModel } from '../model/index.ts'
import { imitate, policyGradient, sequence } from '../optimize/weights/index.ts'
import { deploy, Registry } from '../release/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openStore } from '../store/index.ts'
import { learn, type LearnEvent, type RolloutOptions, rollouts } from './index.ts'

const colours = ['yellow', 'red', 'purple', 'green'] as const

/** Asks for a colour; what is said ends the episode. */
const environment: Environment = {
  name: 'colours',
  open() {
    let said = ''
    return {
      opening: [],
      tools: [],
      step(action) {
        if (action.kind === 'message') said = action.content.trim()
        return { messages: [], done: true }
      },
      close: () => ({ state: { said }, counts: {} }),
    }
  },
}
const tasks = (['train', 'validation', 'holdout'] as const).flatMap((split) =>
  Array.from({ length: 32 }, (_, i) =>
    Task.parse({ id: `${split}-${i}`, instruction: `${i} colour`, data: {}, split }),
  ),
)
/** Every colour is shown as often as the others. */
const demonstrations = tasks.slice(0, 16).map(({ instruction }, i) => {
  const answer: Message = { role: 'assistant', content: colours[i % colours.length]!, toolCalls: [] }
  return { messages: [user(instruction), answer] }
})
const says = (right: readonly string[]) =>
  rubric({ right: verifier(({ state }) => (right.includes((state as { said: string }).said) ? 1 : 0)) })

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-soft-prompt-'))
  writeTinyModel(join(folder, 'tiny'), { words: [...colours, 'colour'] })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const base = () => join(folder, 'tiny')
const agentWith = (model: WeightsDefinition) =>
  defineAgent({
    name: 'painter',
    parameters: { model },
    run: (task, parameters, episode) => parameters.model.act([user(task.instruction)], episode),
  })

/** What one process has: the model and the store, opened anew. */
async function process<T>(work: (service: ModelService, store: Store) => Promise<T>): Promise<T> {
  const { service } = await openEmbeddedModel({ reference: base(), renderer: 'compact', deterministic: true })
  const store = await openStore({ path: join(folder, 'ratchet.db') })
  try {
    return await work(service, store)
  } finally {
    await store.close()
    await service.close()
  }
}

const options = (service: ModelService, store: Store) =>
  ({
    model: service,
    store,
    source: rollouts(environment, tasks),
    gate: pairedGate({ margin: 0, alpha: 0.05 }),
    budget: { turns: 1, tokensPerTurn: 8 },
    check: false,
    schedule: {
      primePasses: 10,
      augmentation: 0,
      rewording: 0,
      updates: 6,
      tasks: 8,
      attempts: 8,
      validateEvery: 3,
      holdoutTasks: 32,
      patience: null,
      silentUpdates: 0,
    },
    seed: 1,
    deterministic: true,
  }) satisfies Omit<RolloutOptions, 'reward'>

it('a soft prompt learns by imitation, is released, and after a restart learns by policy gradient', async () => {
  const agent = agentWith(softPrompt({ base: base(), length: 8, initial: 'colour' }))
  const supervised = { learningRate: 0.05, batchSize: 4 }
  const first = await process(async (service, store) => {
    const summary = await learn(agent, {
      ...options(service, store),
      prime: { demonstrations, supervised },
      reward: says(colours),
      optimize: { model: sequence(imitate()) },
    })
    return { ...summary, release: (await new Registry(store).current('painter')).release }
  })
  expect(first).toMatchObject({ base: { success: 0 }, decision: 'promote' })
  expect(first.learned.success).toBeGreaterThan(0.9)
  expect(first.release.id).toBe(first.releaseId)

  const events: LearnEvent[] = []
  const second = await process((service, store) =>
    learn(agent, {
      ...options(service, store),
      reward: says(['red']),
      optimize: { model: sequence(policyGradient({ learningRate: 0.05, warmupUpdates: 0 })) },
      onEvent: (event) => events.push(event),
    }),
  )
  // It goes on from what was released: one colour in four or so.
  expect(second.base.success).toBeLessThan(0.7)
  expect(second.learned.success).toBeGreaterThan(0.9)
  expect(second.decision).toBe('promote')
  const [agreed] = events.flatMap((event) => (event.type === 'agreed' ? [event] : []))
  expect(agreed?.furthest).toBeLessThan(1e-4)

  await process(async (service, store) => {
    const { release } = await new Registry(store).current('painter')
    const { value } = (await store.versions.get(release.versions['model']!))!
    const adapter = await service.loadAdapter(await savedAt(store.blobs, asWeights(value)!.adapter!))
    expect(adapter.positions).toBe(8)
    const models = { model: service }
    // As it was measured: its likeliest words.
    const deployment = await deploy(agent, { store, environment, models, temperature: 0, everyMs: 5 })
    const session = await deployment.run({ instruction: '99 colour' })
    const record = await store.trajectories.get(session.id)
    expect(JSON.stringify(record?.trajectory.nodes)).toContain('red')
    await deployment.close()
  })
}, 120_000)

it('is refused where another method is to go on from it, and where the model is another', async () => {
  const agent = agentWith(softPrompt({ base: base(), length: 8, initial: 'colour' }))
  const run = (service: ModelService, store: Store, of = agent) =>
    learn(of, {
      ...options(service, store),
      prime: { demonstrations, supervised: { learningRate: 0.05, batchSize: 4 } },
      reward: says(colours),
      optimize: { model: sequence(imitate()) },
    })
  expect((await process(run)).decision).toBe('promote')
  for (const [other, problem] of [
    [weights({ base: base(), rank: 4 }), /not an adapter/],
    [softPrompt({ base: base(), length: 9, initial: 'colour' }), /soft prompt of 8/],
  ] as const) {
    const again = process((service, store) => run(service, store, agentWith(other)))
    await expect(again).rejects.toMatchObject({ code: 'model/state-mismatch', message: expect.stringMatching(problem) })
  }
  writeTinyModel(base(), { words: [...colours, 'colour'], seed: 2 })
  await expect(process(run)).rejects.toMatchObject({ code: 'learn/other-base' })
}, 120_000)
