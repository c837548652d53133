import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { backward, defineAgent, demonstration, policySamples, user, weights } from '../src/agent/index.ts'
import {
  groupAttempts,
  type ModelService,
  type Rng,
  rng,
  type Trainer,
  type Trajectory,
  VersionId,
} from '../src/core/index.ts'
import { leaveOneOut } from '../src/credit/index.ts'
import { play } from '../src/environment/index.ts'
import { openEmbeddedModel } from '../src/model/index.ts'
import { type AuxiliaryTasks, policyGradient, protoValues, supervisedPass } from '../src/optimize/weights/index.ts'
import { type Attempts, attemptsBy } from './support/attempts-by.ts'
import { acrossTen, evidence, inWords, seedsFrom } from './support/across-seeds.ts'
import { animal, fruit, toldRight, wordsOf, worldOf } from './support/telling-worlds.ts'
import { writeTinyModel } from './tiny/model.ts'

const worlds = { fruit: worldOf(fruit), animals: worldOf(animal) }
type World = keyof typeof worlds
const names: readonly World[] = ['fruit', 'animals']

let folder: string
let service: ModelService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-auxiliary-'))
  writeTinyModel(join(folder, 'tiny'), { words: wordsOf([fruit, animal]) })
  service = (await openEmbeddedModel({ reference: join(folder, 'tiny'), renderer: 'compact', deterministic: true }))
    .service
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

const agent = () =>
  defineAgent({
    name: 'teller',
    parameters: { model: weights({ base: service.base, rank: 16 }) },
    run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
  })

type InWorld = Pick<Attempts, 'adapter' | 'tasks' | 'attempts' | 'batch'> & { readonly world: World }

const attempted = ({ world, ...attempts }: InWorld): Promise<readonly Trajectory[]> =>
  attemptsBy(service, { ...attempts, agent: agent(), environment: worlds[world].environment, tokensPerTurn: 8 })

const solved = ({ finalState }: Trajectory): number => (finalState === null ? 0 : Number(toldRight(finalState)))
const success = (trajectories: readonly Trajectory[]): number =>
  trajectories.reduce((sum, one) => sum + solved(one), 0) / trajectories.length

/** Held-out success in 160 attempts. */
async function measured(world: World, trainer: Trainer, batch: string): Promise<number> {
  const tasks = worlds[world].tasks.filter(({ split }) => split === 'holdout')
  return success(await attempted({ world, adapter: await trainer.publish(), tasks, attempts: 4, batch }))
}

/** The same targets, each turn's given to another one: what is predicted has nothing to do with what comes later. */
function shuffled(tasks: AuxiliaryTasks, random: Rng): AuxiliaryTasks {
  const pool: (readonly number[])[] = []
  return {
    ...tasks,
    targets(episode) {
      const targets = tasks.targets(episode) ?? []
      const begins = (t: number) => (episode.acted[t] ?? false) && !(episode.acted[t - 1] ?? false)
      pool.push(...targets.filter((_, t) => begins(t)))
      let drawn: readonly number[] = []
      return targets.map((values, t) => {
        if (begins(t)) drawn = pool[random.int(pool.length)] ?? []
        return values.length > 0 ? drawn : values
      })
    },
  }
}

// The weight was chosen among 0.1, 1 and 5 on seeds 1 to 4, which are no evidence.
const proto = (weight = 1) => protoValues({ outputs: 16, weight })
type Arm = (seed: number) => AuxiliaryTasks | undefined
const arms: Readonly<Record<string, Arm>> = {
  'no auxiliary tasks': () => undefined,
  'values of random sets': () => proto(),
  'the same, shuffled': (seed) => shuffled(proto(), rng('shuffled', seed)),
  // Added when the others had been seen in the practice of the first world.
  'a tenth of the weight': () => proto(0.1),
}
const seeds = seedsFrom(101, 1)

/** Imitates twelve demonstrations for so many passes. @returns the trainer, and the error of the auxiliary tasks in each pass. */
async function imitated(world: World, seed: number, passes: number, auxiliary?: AuxiliaryTasks) {
  const { environment, tasks, expert } = worlds[world]
  const trainer = await service.trainer({ kind: 'lora', rank: 16, alpha: 32 }, seed)
  const train = rng('shown', seed).shuffle(tasks.filter(({ split }) => split === 'train'))
  const { tools } = await environment.open(train[0]!, 0)
  const shown = await Promise.all(
    train.slice(0, 12).map(async (task) => {
      const { messages } = await play(environment, expert, task, toldRight)
      return demonstration(messages, tools, service.renderer)
    }),
  )
  const errors: number[] = []
  for (let pass = 0; pass < passes; pass++) {
    const options = { learningRate: 6e-3, batchSize: 4, ...(auxiliary && { auxiliary }) }
    const metrics = await supervisedPass(trainer, shown, rng('passes', seed, pass), options)
    errors.push(metrics['auxiliaryLoss'] ?? 0)
  }
  return { trainer, errors }
}

/** Practises for so many updates. @returns success of the attempts of each. */
async function practised(world: World, seed: number, updates: number, trainer: Trainer, auxiliary?: AuxiliaryTasks) {
  const train = worlds[world].tasks.filter(({ split }) => split === 'train')
  const practice = policyGradient({ learningRate: 3e-3, ...(auxiliary && { auxiliary }) })
  const rates: number[] = []
  for (let update = 0; update < updates; update++) {
    const tasks = rng('tasks', seed, update).shuffle(train).slice(0, 8)
    const adapter = await trainer.publish()
    const trajectories = await attempted({ world, adapter, tasks, attempts: 6, batch: `practice ${seed} ${update}` })
    rates.push(success(trajectories))
    const scored = trajectories.map((trajectory) => ({
      trajectory,
      reward: { status: 'scored' as const, value: solved(trajectory), parts: {} },
    }))
    const context = { signals: new Map(), rng: rng('credit', seed, update), asOf: 0 }
    const { credits } = await leaveOneOut().credit(groupAttempts(scored), context)
    const gradients = backward({ trajectories, credits }, { parameter: 'model', rule: policySamples })
    const current = {
      version: VersionId.parse('v'),
      value: { kind: 'weights', base: service.base, baseHash: service.baseHash, adapter: null },
    } as const
    await practice.step({
      current,
      gradients,
      trainer,
      update,
      sampler: service.sampler,
      rng: rng('step', seed, update),
    })
  }
  return rates
}

/** Prints what each arm came to, and what it is above each control, paired by seed. */
function told(title: string, shares: ReadonlyMap<string, readonly number[]>): void {
  if (!evidence) return
  for (const [arm, each] of shares) {
    const above = ['no auxiliary tasks', 'the same, shuffled'].flatMap((control) => {
      const other = shares.get(control)
      return other === undefined
        ? []
        : [`${inWords(acrossTen(each.map((one, i) => one - (other[i] ?? 0))))} above ${control}`]
    })
    console.log(`${title}: ${arm}: ${inWords(acrossTen(each))} %; ${above.join('; ')}`)
  }
}

/** What each arm comes to on every seed. */
async function acrossArms<T>(
  measure: (arm: Arm, seed: number) => Promise<T>,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const found = new Map<string, T[]>()
  for (const seed of seeds) {
    for (const [name, arm] of Object.entries(arms))
      found.set(name, [...(found.get(name) ?? []), await measure(arm, seed)])
  }
  return found
}

const each = <T>(found: ReadonlyMap<string, readonly T[]>, of: (one: T) => number) =>
  new Map([...found].map(([arm, all]) => [arm, all.map(of)] as const))

it.each(names)('imitation in the world of %s', async (world) => {
  const found = await acrossArms(async (arm, seed) => {
    const { trainer, errors } = await imitated(world, seed, 6, arm(seed))
    const rate = await measured(world, trainer, `imitation ${seed}`)
    await trainer.close()
    return { rate, error: errors.at(-1) ?? 0 }
  })
  told(
    `${world}, after 6 passes`,
    each(found, ({ rate }) => rate),
  )
  const errors = each(found, ({ error }) => error)
  const mean = (arm: string) => (errors.get(arm) ?? []).reduce((sum, one) => sum + one, 0) / seeds.length
  const [own, other] = [mean('values of random sets'), mean('the same, shuffled')]
  console.log(`${world}: mean squared error of values ${own.toFixed(3)}, of shuffled ones ${other.toFixed(3)}`)
  // What is predicted can be: it has to do with what comes later.
  expect(own).toBeLessThan(0.7 * other)
})

/** On a machine with other work a world takes more than ten minutes. */
const limit = 3_600_000

it.each(names)('practice in the world of %s', { timeout: limit }, async (world) => {
  const found = await acrossArms(async (arm, seed) => {
    const { trainer } = await imitated(world, seed, 8)
    const rates = await practised(world, seed, 16, trainer, arm(seed))
    const rate = await measured(world, trainer, `practice ${seed}`)
    await trainer.close()
    return { rate, meanwhile: rates.reduce((sum, one) => sum + one, 0) / rates.length, before: rates[0] ?? 0 }
  })
  told(
    `${world}, before practice`,
    each(found, ({ before }) => before),
  )
  told(
    `${world}, in practice`,
    each(found, ({ meanwhile }) => meanwhile),
  )
  told(
    `${world}, after 16 updates`,
    each(found, ({ rate }) => rate),
  )
  const mean = (of: (one: { rate: number; before: number }) => number) => {
    const all = found.get('values of random sets') ?? []
    return all.reduce((sum, one) => sum + of(one), 0) / all.length
  }
  // It does not keep the weights from learning.
  expect(mean(({ rate }) => rate)).toBeGreaterThan(mean(({ before }) => before))
})
