import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineAgent, user, weights } from '../src/agent/index.ts'
import type { ModelService, Store, Task } from '../src/core/index.ts'
import { leaveOneOut } from '../src/credit/index.ts'
import { mixed, play } from '../src/environment/index.ts'
import { pairedGate, wilson } from '../src/gate/index.ts'
import { learn, type LearnEvent, rollouts } from '../src/learn/index.ts'
import { openEmbeddedModel } from '../src/model/index.ts'
import { policyGradient } from '../src/optimize/weights/index.ts'
import { rubric, verifier } from '../src/reward/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { animal, fruit, toldRight, wordsOf, worldOf } from './support/telling-worlds.ts'
import { writeTinyModel } from './tiny/model.ts'

type World = 'fruit' | 'animal'
const names: readonly World[] = ['fruit', 'animal']
const worlds = { fruit: worldOf(fruit), animal: worldOf(animal) }
const both = mixed(worlds)
const checkBoth = both.check({ fruit: toldRight, animal: toldRight })
const expert = both.policy({ fruit: worlds.fruit.expert, animal: worlds.animal.expert })

let folder: string
let service: ModelService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-shared-'))
  writeTinyModel(join(folder, 'tiny'), { words: wordsOf([fruit, animal]) })
  service = (await openEmbeddedModel({ reference: join(folder, 'tiny'), renderer: 'compact', deterministic: true }))
    .service
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Successes of 40 held-out tasks of each world, before and after learning in some; `null` where nothing was measured. */
async function learned(where: readonly World[], seed: number) {
  const store: Store = await openMemoryStore()
  const inThose = ({ id, split }: Task) => split !== 'train' || where.some((world) => id.startsWith(`${world}/`))
  const tasks = both.tasks.filter(inThose)
  const shown = tasks.filter(({ id }) => /\/train-(\d|1[01])$/.test(id))
  const demonstrations = await Promise.all(shown.map((task) => play(both.environment, expert, task, checkBoth)))
  const events: LearnEvent[] = []
  await learn(
    defineAgent({
      name: 'teller',
      parameters: { model: weights({ base: service.base, rank: 16 }) },
      run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
    }),
    {
      model: service,
      store,
      source: rollouts(both.environment, tasks),
      prime: { demonstrations, supervised: { learningRate: 6e-3, batchSize: 4 } },
      reward: rubric({ told: verifier(checkBoth) }),
      credit: leaveOneOut(),
      optimize: { model: policyGradient({ learningRate: 3e-3, warmupUpdates: 0 }) },
      method: { kind: 'lora', rank: 16, alpha: 32 },
      gate: pairedGate({ margin: 0, alpha: 0.05 }),
      budget: { turns: 4, tokensPerTurn: 8 },
      schedule: {
        primePasses: 16,
        augmentation: 0,
        rewording: 0,
        updates: 6,
        tasks: 8,
        attempts: 4,
        validateEvery: 6,
        holdoutTasks: 80,
        patience: null,
        silentUpdates: 0,
      },
      seed,
      deterministic: true,
      onEvent: (event) => events.push(event),
    },
  )
  await store.close()
  const rate = (arm: string, world: World): number | null => {
    const found = events.find(
      (e) => e.type === 'evaluated' && e.split === 'holdout' && e.arm === arm && e.tier === world,
    )
    return found?.type === 'evaluated' ? Math.round((found.rate.success ?? 0) * found.rate.n) : null
  }
  const of = (arm: string) => ({ fruit: rate(arm, 'fruit'), animal: rate(arm, 'animal') })
  return { base: of('base'), learned: of('learned'), found: events.filter(({ type }) => type === 'found') }
}

/** Successes of so many tasks of each world, over all seeds. */
interface Count {
  readonly successes: number
  readonly n: number
}

const told = ({ successes, n }: Count): string => {
  const [low, high] = wilson(successes, n, 0.95).map((rate) => (100 * rate).toFixed(0))
  return `${successes} of ${n} (${low} to ${high} %)`
}

it('one adapter learns both worlds, and an adapter of one world does nothing in the other', async () => {
  const counts: Record<string, Record<World, Count>> = {}
  const add = (arm: string, world: World, successes: number | null) => {
    if (successes === null) return
    const before = (counts[arm] ??= { fruit: { successes: 0, n: 0 }, animal: { successes: 0, n: 0 } })[world]
    counts[arm][world] = { successes: before.successes + successes, n: before.n + 40 }
  }
  for (const seed of [1, 2, 3]) {
    for (const where of [['fruit'], ['animal'], names] as const) {
      const { base, learned: after, found } = await learned(where, seed)
      expect(found).toEqual([])
      console.log(`seed ${seed}, learned on ${where.join(' and ')}: ${JSON.stringify(after)}`)
      for (const world of names) {
        add(where.length > 1 ? 'base' : '', world, base[world])
        add(where.join(' and '), world, after[world])
      }
    }
  }
  for (const [arm, { fruit: ofFruit, animal: ofAnimal }] of Object.entries(counts)) {
    if (arm !== '') console.log(`${arm.padEnd(16)} fruit ${told(ofFruit)}, animal ${told(ofAnimal)}`)
  }
  const rate = (arm: string, world: World) => counts[arm]![world].successes / counts[arm]![world].n
  for (const world of names) {
    const other: World = world === 'fruit' ? 'animal' : 'fruit'
    expect(rate('base', world)).toBeLessThan(0.1)
    expect(rate(world, other)).toBeLessThan(0.1)
    expect(rate(world, world)).toBeGreaterThan(0.8)
    expect(rate('fruit and animal', world)).toBeGreaterThan(0.6)
  }
})
