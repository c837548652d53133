import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BestOf, defineAgent, demonstration, lexicalEmbedder, user, weights } from '../src/agent/index.ts'
import {
  type AdapterRef,
  type Message,
  type ModelService,
  type Ranker,
  rng,
  type Task,
  type Trajectory,
} from '../src/core/index.ts'
import {
  corpusFromJsonl,
  SearchEnvironment,
  searchTools,
  tasksFromJsonl,
  verify,
} from '../src/environment/search/index.ts'
import { call, play, type Policy } from '../src/environment/index.ts'
import { openEmbeddedModel } from '../src/model/index.ts'
import { supervisedPass } from '../src/optimize/weights/index.ts'
import {
  experience,
  fitActionValue,
  fittingFeatures,
  shownExperience,
  type ValueOptions,
  valueRanker,
} from '../src/reward/index.ts'
import { type Attempts, attemptsBy } from './support/attempts-by.ts'
import { acrossTen, evidence, inWords, seedsFrom } from './support/across-seeds.ts'
import { jsonl, tinyJob, writeTinyJob } from './tiny/job.ts'

const job = tinyJob()
const fruits: readonly string[] = job.documents.map(({ id }) => id)
const colours = job.documents.map(({ lines }) => lines[0]?.split(' ')[1] ?? '')
const environment = new SearchEnvironment(corpusFromJsonl({ text: jsonl(job.documents) }))
const tasks = tasksFromJsonl({ text: jsonl(job.tasks) })
const splitOf = (split: Task['split']) => tasks.filter((task) => task.split === split)

let folder: string
let service: ModelService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-value-'))
  const { model } = writeTinyJob(folder)
  service = (await openEmbeddedModel({ reference: model, renderer: 'compact', deterministic: true })).service
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

const agentThat = (best?: BestOf) =>
  defineAgent({
    name: 'greengrocer',
    parameters: { model: weights({ base: service.base, rank: 16 }) },
    run: (task, { model }, episode) => model.act([user(task.instruction)], episode, best && { best }),
  })

const attempted = (attempts: Omit<Attempts, 'environment' | 'tokensPerTurn'>): Promise<readonly Trajectory[]> =>
  attemptsBy(service, { ...attempts, environment, tokensPerTurn: 6 })

const solved = ({ finalState }: Trajectory): number => (finalState === null ? 0 : verify(finalState))
const success = (trajectories: readonly Trajectory[]): number =>
  trajectories.reduce((sum, one) => sum + solved(one), 0) / trajectories.length

/** What imitates conversations, after so many passes over them. */
async function imitators(
  conversations: readonly (readonly Message[])[],
  passes: readonly number[],
  seed: number,
): Promise<readonly AdapterRef[]> {
  const trainer = await service.trainer({ kind: 'lora', rank: 16, alpha: 32 }, seed)
  const shown = conversations.map((messages) => demonstration(messages, searchTools, service.renderer))
  const adapters: AdapterRef[] = []
  for (let pass = 1; pass <= Math.max(...passes); pass++) {
    await supervisedPass(trainer, shown, rng('passes', seed, pass), { learningRate: 6e-3, batchSize: 4 })
    if (passes.includes(pass)) adapters.push(await service.loadAdapter(await trainer.saveWeights()))
  }
  await trainer.close()
  return adapters
}

const likeliest: Ranker = {
  name: 'log-probability',
  rank: (_, candidates) => Promise.resolve(candidates.map(({ logprob }) => logprob ?? 0)),
}
const features = fittingFeatures(lexicalEmbedder({ dimensions: 64 }))

/** People who know the way and make mistakes: they open the page so often, and get each word right so often. */
const person = (opens: number, right: number, seed: string): Policy => {
  const random = rng('person', seed)
  const say = (word: string, words: readonly string[]) =>
    random.next() < right ? word : (words[random.int(words.length)] ?? '')
  return async (episode, task) => {
    const index = fruits.findIndex((one) => task.instruction.includes(one))
    const [fruit, colour] = [fruits[index] ?? '', colours[index] ?? '']
    await call(episode, 'search', { query: say(fruit, fruits) })
    const reads = random.next() < opens
    if (reads) await call(episode, 'open', { title: say(fruit, fruits) })
    await call(episode, 'answer', { text: reads ? say(colour, colours) : (colours[random.int(4)] ?? '') })
  }
}

interface World {
  readonly name: string
  /** Of people, whose episodes are recorded: how often they open the page, and get a word right. */
  readonly opens: number
  readonly right: number
  readonly episodes: number
  /** Whether the policy imitates these people; else twelve demonstrations without mistakes. */
  readonly imitatesThem: boolean
  /** Passes of the checkpoint whose episodes are recorded too, and of the policy that is ranked. */
  readonly passes: readonly [number, number]
}

const hurried: World = {
  name: 'a policy that imitates people in a hurry, who guess seven times of ten',
  opens: 0.3,
  right: 1,
  episodes: 4,
  imitatesThem: true,
  passes: [4, 6],
}
const careful: World = {
  name: 'a policy that imitates demonstrations without mistakes',
  opens: 0.7,
  right: 0.7,
  episodes: 8,
  imitatesThem: false,
  passes: [6, 7],
}

/** What was recorded of others: of people, and of an earlier checkpoint. And the policy that is to be ranked. */
async function recordedIn({ opens, right, episodes, imitatesThem, passes }: World, seed: number) {
  const train = splitOf('train')
  const plays = await Promise.all(
    train.flatMap((task) =>
      Array.from({ length: episodes }, (_, i) =>
        play(environment, person(opens, right, `${seed} ${task.id} ${i}`), task, verify),
      ),
    ),
  )
  const imitated = imitatesThem ? plays : job.demonstrations
  const [earlier, adapter] = await imitators(
    imitated.map(({ messages }) => messages),
    passes,
    seed,
  )
  if (!earlier || !adapter) throw new Error('there are two')
  const common = { agent: agentThat(), adapter: earlier, tasks: train, attempts: 8, batch: `recorded ${seed}` }
  const own = (await attempted(common)).flatMap(
    (trajectory) =>
      experience({ trajectory, reward: { status: 'scored', value: solved(trajectory), parts: {} } }) ?? [],
  )
  const shown = plays.flatMap(
    ({ messages, task, success: done }) => shownExperience({ messages, task }, Number(done)) ?? [],
  )
  return { adapter, experiences: [...own, ...shown] }
}

const seeds = seedsFrom(101, 1)

/** Success of each arm by seed, in percent of 160 attempts at 40 held-out tasks. */
async function ranked(world: World): Promise<ReadonlyMap<string, readonly number[]>> {
  const arms = new Map<string, number[]>()
  for (const seed of seeds) {
    const { adapter, experiences } = await recordedIn(world, seed)
    const measure = async (arm: string, best: BestOf | undefined, temperature = 1) => {
      const all = { agent: agentThat(best), adapter, tasks: splitOf('holdout'), attempts: 4, batch: arm, temperature }
      arms.set(arm, [...(arms.get(arm) ?? []), success(await attempted(all))])
    }
    await measure('one attempt', undefined)
    await measure('greedy', undefined, 0)
    await measure('likeliest of 8', { of: 8, by: likeliest })
    const ways: [string, ValueOptions][] = [
      ['best of 8 by value', {}],
      ['backed up by the likeliest', { backup: 'likeliest' }],
      ['by the return', { backup: 'return' }],
      ['by value, begun as a constant', { prior: 'none' }],
    ]
    for (const [arm, options] of ways) {
      const fit = await fitActionValue(experiences, features, options)
      if (fit.status === 'refused') console.log(`${world.name}, seed ${seed}: ${arm}: not used, for ${fit.reason}`)
      await measure(arm, fit.status === 'fitted' ? { of: 8, by: valueRanker(fit.value, features) } : undefined)
    }
  }
  const value = arms.get('best of 8 by value') ?? []
  for (const [arm, each] of evidence ? arms : []) {
    const less = acrossTen(value.map((one, i) => one - (each[i] ?? 0)))
    console.log(`${world.name}: ${arm}: ${inWords(acrossTen(each))} %; by value ${inWords(less)} points more`)
  }
  return arms
}

/** What ranking by value adds, in points: for evidence the lower end of the interval, else the mean. */
function gain(arms: ReadonlyMap<string, readonly number[]>, over: string): number {
  const more = (arms.get('best of 8 by value') ?? []).map((one, i) => one - (arms.get(over)?.[i] ?? 0))
  return evidence ? acrossTen(more).low : (100 * more.reduce((sum, one) => sum + one, 0)) / more.length
}

it('the best of eight by a value from what others did is above one attempt and above the likeliest of eight', async () => {
  const arms = await ranked(hurried)
  expect(gain(arms, 'one attempt')).toBeGreaterThan(10)
  expect(gain(arms, 'likeliest of 8')).toBeGreaterThan(10)
})

it('where the policy imitated no mistakes, the likeliest is nearer', async () => {
  const arms = await ranked(careful)
  expect(gain(arms, 'one attempt')).toBeGreaterThan(10)
  expect(gain(arms, 'likeliest of 8')).toBeGreaterThan(0)
})
