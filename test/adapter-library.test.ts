import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineAgent, user, weights } from '../src/agent/index.ts'
import type { ModelService, Store } from '../src/core/index.ts'
import { leaveOneOut } from '../src/credit/index.ts'
import { play } from '../src/environment/index.ts'
import { pairedGate, wilson } from '../src/gate/index.ts'
import { learn, type LearnEvent, type LibraryAdapter, releasedAdapters, rollouts } from '../src/learn/index.ts'
import { openEmbeddedModel } from '../src/model/index.ts'
import { policyGradient } from '../src/optimize/weights/index.ts'
import { rubric, verifier } from '../src/reward/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { animal, flower, type Front, fruit, toldRight, wordsOf, worldOf } from './support/telling-worlds.ts'
import { writeTinyModel } from './tiny/model.ts'

let folder: string
let service: ModelService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-library-'))
  writeTinyModel(join(folder, 'tiny'), { words: wordsOf([fruit, animal, flower]) })
  const reference = join(folder, 'tiny')
  service = (await openEmbeddedModel({ reference, renderer: 'compact', deterministic: true })).service
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

interface Work {
  readonly agent: string
  readonly front: Front
  readonly demonstrations: number
  readonly passes: number
  readonly seed: number
  readonly startFrom?: readonly LibraryAdapter[]
}

/** An agent imitates in a world. How many of 40 held-out tasks it then does, and what it began from. */
async function imitated(store: Store, { agent, front, demonstrations: shown, passes, seed, startFrom = [] }: Work) {
  const { environment, tasks, expert } = worldOf(front)
  const demonstrations = await Promise.all(
    tasks.slice(0, shown).map((task) => play(environment, expert, task, toldRight)),
  )
  const events: LearnEvent[] = []
  const { learned } = await learn(
    defineAgent({
      name: agent,
      parameters: { model: weights({ base: service.base, rank: 16 }) },
      run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
    }),
    {
      model: service,
      store,
      source: rollouts(environment, tasks),
      prime: { demonstrations, startFrom, supervised: { learningRate: 6e-3, batchSize: 4 } },
      reward: rubric({ told: verifier(toldRight) }),
      credit: leaveOneOut(),
      optimize: { model: policyGradient() },
      method: { kind: 'lora', rank: 16, alpha: 32 },
      gate: pairedGate({ margin: 0, alpha: 0.05 }),
      budget: { turns: 4, tokensPerTurn: 8 },
      schedule: { primePasses: passes, augmentation: 0, updates: 0 },
      seed,
      deterministic: true,
      onEvent: (event) => events.push(event),
    },
  )
  const began = events.find((event) => event.type === 'began-from')
  return { successes: Math.round((learned.success ?? 0) * learned.n), began }
}

const seeds = [1, 2, 3, 4, 5]
const passes = [8, 12, 16]
const n = 40 * seeds.length

it('a run chooses the adapter of like work, and imitates sooner from it than from the base', async () => {
  const sums = new Map<string, number[]>()
  for (const seed of seeds) {
    const store = await openMemoryStore()
    const known = { demonstrations: 12, passes: 16, seed }
    await imitated(store, { agent: 'fruit', front: fruit, ...known })
    await imitated(store, { agent: 'animal', front: animal, ...known })
    const [like, other] = await releasedAdapters(store, ['fruit', 'animal'])
    await store.close()
    const starts: [string, LibraryAdapter[]][] = [
      ['the base', []],
      ['the library', [other!, like!]],
      ['the other adapter', [other!]],
    ]
    for (const count of passes) {
      for (const [start, startFrom] of starts) {
        const fresh = await openMemoryStore()
        const work = { agent: 'flower', front: flower, demonstrations: 8, passes: count, seed, startFrom }
        const { successes, began } = await imitated(fresh, work)
        await fresh.close()
        if (start === 'the library') expect(began).toMatchObject({ adapter: 'fruit/model' })
        const arm = `${count} passes from ${start}`
        sums.set(arm, [...(sums.get(arm) ?? []), successes])
      }
    }
  }
  const total = (arm: string) => sums.get(arm)!.reduce((sum, one) => sum + one, 0)
  for (const [arm, each] of sums) {
    const [low, high] = wilson(total(arm), n, 0.95).map((rate) => (100 * rate).toFixed(0))
    console.log(`${arm}: ${total(arm)} of ${n} (${low} to ${high} %), by seed ${each.join(' ')}`)
  }
  // With more passes the base catches up.
  expect(total('8 passes from the library')).toBeGreaterThan(2 * total('8 passes from the base'))
})

it('an adapter of another rank is refused by its name', async () => {
  const trainer = await service.trainer({ kind: 'lora', rank: 8, alpha: 8 }, 0)
  const saved = await trainer.saveWeights()
  await trainer.close()
  const { base, baseHash } = service
  const startFrom = [{ name: 'narrow', base, baseHash, load: () => Promise.resolve(saved) }]
  const store = await openMemoryStore()
  const work = { agent: 'flower', front: flower, demonstrations: 4, passes: 1, seed: 0, startFrom }
  await expect(imitated(store, work)).rejects.toMatchObject({
    code: 'learn/unusable-adapter',
    message: expect.stringContaining('"narrow"') as string,
  })
  await store.close()
})
