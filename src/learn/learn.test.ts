import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { practisedModel, type PractisedModelOptions, skillIn } from '../../test/support/practised-model.ts'
import { reader, readerTasks, type ReaderChanges, runReader } from '../../test/support/reader.ts'
import { answeredRight, wordEnvironment } from '../../test/support/word-environment.ts'
import { defaultBudget, defineAgent, user, weights } from '../agent/index.ts'
import {
  asWeights,
  type Environment,
  type HoldoutTask,
  isPaired,
  type ModelService,
  type PairedReceipt,
  type ReceiptId,
  RunId,
  type Store,
  savedAt,
} from '../core/index.ts'
import { batchZScore, durationAware, leaveOneOut } from '../credit/index.ts'
import { RatchetError } from '../errors/index.ts'
import { holdoutHash, pairedGate, replay, wilson } from '../gate/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { Registry } from '../release/index.ts'
import { rubric, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import type { ScriptedResults } from './source/rollouts/scripted.ts'
import { rollouts } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const run = (changes?: ReaderChanges) => runReader(store, changes)

async function pairedReceipt(id: ReceiptId | null): Promise<PairedReceipt> {
  const receipt = (await store.receipts.get(id!))!
  if (!isPaired(receipt)) throw new Error('a receipt of live sessions')
  return receipt
}

const only = async () => (await store.runs.list({ limit: 10 }))[0]!

/** A scripted policy that solves the first so many tasks, and need not be beaten. */
const scripted = (name: string, tasks: readonly HoldoutTask[], solved: number): ScriptedResults => ({
  name,
  beat: false,
  scores: new Map(tasks.map(({ id }, i) => [id, Number(i < solved)])),
})

describe('a run', () => {
  it('estimates what is left by how long an update took, and not by imitation before', async () => {
    let seconds = 0
    const { of } = await run({ clock: { now: () => 1000 * seconds++ } })
    const primed = of('primed').at(-1)!.seconds
    const [first] = of('updated')
    expect(primed).toBeGreaterThan(0)
    expect(first!.etaSeconds).toBeGreaterThan(0)
    expect(first!.etaSeconds).toBeLessThanOrEqual((first!.updates - 1) * (first!.seconds - primed))
    expect(of('updated').at(-1)!.etaSeconds).toBe(0)
  })

  it('estimates no more than the clock leaves, once validation is good enough', async () => {
    let seconds = 0
    const clock = { now: () => 1000 * seconds++ }
    const limit = 10_000
    const schedule = { updates: 1_000, validateEvery: 2, target: null, patience: null }
    const { of } = await run({ clock, schedule: { ...schedule, goodEnough: { success: 0.5, seconds: limit } } })
    const [first, ...later] = of('updated')
    expect(first!.etaSeconds).toBeGreaterThan(limit)
    const last = later.at(-1)!
    expect(last.etaSeconds).toBe(Math.max(0, limit - last.seconds))
  })

  it('is the story: prime, improve, measure, judge, release', async () => {
    const { summary, of, events, practised } = await run()
    expect(summary.base.success).toBe(0)
    expect(summary.primed.success).toBeLessThan(0.45)
    expect(summary.learned.success).toBe(1)
    expect(summary).toMatchObject({ control: null, decision: 'promote', learned: { n: 60, missing: 0 } })

    const told = events.flatMap(({ type }) => (type === 'progress' ? [] : [type]))
    const whileLearning =
      'started agreed primed primed agreed evaluated updated families updated evaluated updated updated evaluated updated'
    const atTheEnd = 'evaluated enough evaluated evaluated evaluated gated released finished'
    expect(told.join(' ')).toBe(`${whileLearning} ${atTheEnd}`)
    expect(of('updated').map((event) => event.update)).toEqual([1, 2, 3, 4, 5])
    expect(of('evaluated').map(({ arm, split, update }) => `${split} ${arm} ${update}`)).toEqual([
      'validation primed 0',
      'validation learned 2',
      'validation learned 4',
      'validation learned 5',
      'holdout base 5',
      'holdout primed 5',
      'holdout learned 5',
    ])
    expect(practised.adapters.size, 'every adapter that was loaded is unloaded').toBe(0)
    expect(practised.trainers.size, 'every trainer that was opened is closed').toBe(0)

    const stored = await store.runs.events(summary.runId)
    expect(stored.map(({ type }) => type)).toEqual(told)
    expect(await only()).toMatchObject({ status: 'completed', release: summary.releaseId, failure: null })
  })

  it('lets what it learned serve, on a receipt that replays, and the holdout was used once', async () => {
    const { summary } = await run()
    const { release, activation } = await new Registry(store).current('reader')
    expect(release.id).toBe(summary.releaseId)
    expect(activation).toMatchObject({ generation: 2, reason: 'promote' })
    const version = (await store.versions.get(release.versions['model']!))!
    expect(version).toMatchObject({
      run: summary.runId,
      value: { kind: 'weights', base: 'words', baseHash: 'the words as they are' },
    })
    const adapter = asWeights(version.value)?.adapter ?? null
    expect(skillIn(await savedAt(store.blobs, adapter!))).toBe(10)

    const receipt = await pairedReceipt(release.receipt)
    expect(replay(receipt)).toBe('promote')
    const uses = await store.ledger.uses(receipt.outcomes.map(({ task }) => task))
    expect(uses).toMatchObject([{ use: 1, run: summary.runId }])
  })

  it('keeps every episode with its versions, and shows the optimizer no held-out one', async () => {
    const { summary } = await run()
    const records = await store.trajectories.list({ run: summary.runId, limit: 10_000 })
    const ofSplit = (split: string) => records.filter(({ trajectory }) => trajectory.task.split === split)
    expect(ofSplit('train')).toHaveLength(5 * 6 * 4)
    expect(ofSplit('validation')).toHaveLength(4 * 30)
    expect(ofSplit('holdout')).toHaveLength(3 * 60)
    const versionsOf = (arm: string) => {
      const decisions = records.flatMap(({ trajectory }) =>
        trajectory.id.includes(`holdout/${arm}/`) ? trajectory.decisions : [],
      )
      return [...new Set(decisions.map(({ version }) => version))]
    }
    const { versionsIn, versionsOut } = await only()
    expect(versionsOf('base')).toEqual([versionsIn['model']])
    expect(versionsOf('learned')).toEqual([versionsOut?.['model']])
    expect(new Set([...versionsOf('base'), ...versionsOf('primed'), ...versionsOf('learned')]).size).toBe(3)
    expect(await store.versions.get(versionsOut!['model']!)).not.toBeNull()
  })

  it('keeps of its checkpoints only what it would resume from, and no trainer when it is done', async () => {
    const [put, deleted] = [new Set<string>(), new Set<string>()]
    let most = 0
    const blobs: Store['blobs'] = {
      ...store.blobs,
      put: async (bytes) => {
        const hash = await store.blobs.put(bytes)
        put.add(hash)
        deleted.delete(hash)
        most = Math.max(most, put.size - deleted.size)
        return hash
      },
      delete: async (hash) => {
        await store.blobs.delete(hash)
        if (
          await store.blobs.get(hash).then(
            () => false,
            () => true,
          )
        )
          deleted.add(hash)
      },
    }
    const { summary } = await run({ store: { ...store, blobs } })
    expect(put.size).toBeGreaterThan(8)
    expect(most).toBeLessThanOrEqual(5)
    const named = Object.entries((await store.runs.latestCheckpoint(summary.runId))!.blobs)
    expect(named.map(([name]) => name).toSorted()).toEqual(['best', 'primed'])
    expect(new Set(named.map(([, hash]) => hash))).toEqual(new Set([...put].filter((hash) => !deleted.has(hash))))
  })

  it('repeats: equal seeds sample equally, another seed does not', async () => {
    const requests = async (seed: number) => {
      store = await openMemoryStore()
      const { practised } = await run({ seed })
      return practised.requests.map(({ params, prompt }) => [params.seed, prompt])
    }
    const first = await requests(1)
    expect(await requests(1)).toEqual(first)
    expect(await requests(2)).not.toEqual(first)
  })

  it('begins where the last one ended, and is compared with what serves', async () => {
    const first = await run({ schedule: { updates: 2 } })
    expect(first.summary.learned.success).toBeLessThan(1)
    const { summary, of } = await run({ seed: 1, schedule: { primePasses: 0, updates: 3 } })
    const byArm = Object.fromEntries(of('evaluated').flatMap((e) => (e.split === 'holdout' ? [[e.arm, e.rate]] : [])))
    expect(byArm['serving']).toEqual(first.summary.learned)
    expect(byArm['primed']).toEqual(first.summary.learned)
    expect(byArm['base']?.success).toBe(0)
    expect(summary.learned.success).toBeGreaterThan(first.summary.learned.success!)
    const receipt = await pairedReceipt((await store.runs.get(summary.runId))!.receipt)
    expect(receipt.use).toMatchObject({ use: 2 })
    expect(receipt.use.alpha).toBeLessThan(0.05 / 4)
  })

  it('keeps what scripted policies score on the tasks that it is measured on', async () => {
    let asked: readonly string[] = []
    const baselines = async (tasks: readonly HoldoutTask[]) => {
      asked = tasks.map(({ id }) => id)
      return [scripted('constant answer', tasks, 15)]
    }
    const { summary } = await run({ baselines })
    expect(asked).toEqual(readerTasks.flatMap(({ id, split }) => (split === 'holdout' ? [id] : [])))
    const told = (await store.runs.events(summary.runId)).filter(({ type }) => type === 'baseline')
    const rate = { success: 0.25, n: 60, ci: wilson(15, 60, 0.95), missing: 0 }
    expect(told.map(({ data }) => data)).toEqual([{ name: 'constant answer', tier: 'all', rate }])
  })

  it('that learns nothing releases nothing: what served goes on', async () => {
    const { summary, of } = await run({ model: { imitation: 0, practice: () => 0 } })
    expect(summary.decision).not.toBe('promote')
    expect(summary.releaseId).toBeNull()
    expect(of('released')).toEqual([])
    expect((await new Registry(store).current('reader')).activation).toMatchObject({ generation: 1 })
    expect(await only()).toMatchObject({ status: 'completed', release: null })
    expect((await only()).receipt).not.toBeNull()
  })

  it('without demonstrations starts from what serves', async () => {
    const practised = practisedModel()
    const { summary, of } = await run({ prime: undefined as never, schedule: { primePasses: 7 } })
    expect(practised.adapters.size).toBe(0)
    expect(of('primed')).toEqual([])
    expect(summary.primed.success).toBe(0)
  })

  it('counts what could not be scored, and never as 0', async () => {
    const flaky: Environment = {
      name: 'flaky',
      open: (task, seed) => {
        if (/holdout-(1|2|3)$/.test(task.id)) throw new Error('the environment is down')
        return wordEnvironment.open(task, seed)
      },
    }
    const { summary } = await run({ environment: flaky })
    expect(summary.learned).toMatchObject({ n: 57, missing: 3, success: 1 })
    expect(summary.decision).toBe('promote')
    const receipt = await pairedReceipt((await only()).receipt)
    expect(receipt.outcomes.filter(({ candidate }) => candidate === null)).toHaveLength(3)
  })
})

it('cuts the stragglers of an update, and never those of a measurement', async () => {
  const { summary, of } = await run({ schedule: { straggler: 0.5, concurrency: 4 } })
  expect(Math.max(...of('updated').map(({ rollouts }) => rollouts.n))).toBeLessThan(24)
  expect(of('evaluated').map(({ rate }) => rate.n)).toEqual([30, 30, 30, 30, 60, 60, 60])
  expect(summary.learned.missing).toBe(0)
})

describe('a candidate must beat', () => {
  it('the primed policy: what imitation brought is no gain of learning', async () => {
    const { summary, of } = await run({ model: { practice: () => 0 } })
    expect(summary.learned.success).toBe(summary.primed.success)
    expect(summary).toMatchObject({ base: { success: 0 }, decision: 'hold', releaseId: null })
    const [gated] = of('gated')
    expect(gated?.reasons[0]).toMatch(
      /^The candidate does not beat the primed policy: (0\.\d+) against \1 of 60 tasks\.$/,
    )
    // Of equals the most practised checkpoint is kept: it is not the primed one.
    expect(gated?.reasons.join(' ')).not.toContain('imitation')
  })

  it('the primed policy, also where learning made it worse, and says that nothing came of it', async () => {
    const { summary, of } = await run({ model: { practice: () => -2 }, schedule: { updates: 1 } })
    expect(summary.learned).toEqual(summary.primed)
    expect(summary.decision).toBe('hold')
    const [gated] = of('gated')
    expect(gated?.reasons[0]).toContain('does not beat the primed policy')
    expect(gated?.reasons[1]).toMatch(/^Learning brought nothing beyond imitation/)
    const receipt = await pairedReceipt(gated?.receipt ?? null)
    expect(receipt.rivals?.['primed']).toHaveLength(60)
    expect(replay(receipt)).toBe('hold')
  })

  it('no primed policy where the run does not learn after it, or does not prime', async () => {
    const primed = await run({ schedule: { updates: 0, primePasses: 2 }, gate: pairedGate({ margin: 0, alpha: 0.05 }) })
    expect(primed.summary.decision).toBe('promote')
    expect(await pairedReceipt((await only()).receipt)).not.toHaveProperty('rivals')
    expect(primed.of('gated')[0]?.reasons.join(' ')).not.toContain('imitation')
    await run({ seed: 1, schedule: { primePasses: 0 } })
    expect(await pairedReceipt((await only()).receipt)).not.toHaveProperty('rivals')
  })

  it('the scripted policies that say so, and no others', async () => {
    const baselines = async (tasks: readonly HoldoutTask[]) => [
      { ...scripted('trick', tasks, 58), beat: true },
      { ...scripted('expert', tasks, 60), beat: false },
    ]
    const strong = await run({ baselines })
    expect(strong.summary).toMatchObject({ learned: { success: 1 }, decision: 'need_more_evidence', releaseId: null })
    expect(strong.of('gated')[0]?.reasons[0]).toContain('is not shown to beat the trick policy: 1 against 0.967')
    const receipt = await pairedReceipt((await only()).receipt)
    expect(Object.keys(receipt.rivals ?? {}).toSorted()).toEqual(['primed', 'trick'])
    const weak = await run({ seed: 1, baselines: async (tasks) => [{ ...scripted('trick', tasks, 20), beat: true }] })
    expect(weak.summary.decision).toBe('promote')
  })

  it('names that tell policies apart: it is refused where two have one', async () => {
    const baselines = async (tasks: readonly HoldoutTask[]) => [scripted('primed', tasks, 1)]
    await expect(run({ baselines })).rejects.toMatchObject({ code: 'learn/duplicate-baseline' })
  })
})

describe('updates end', () => {
  it('after as many as the schedule has', async () => {
    expect((await run({ schedule: { updates: 0 } })).of('updated')).toHaveLength(0)
    const three = await run({ seed: 1, schedule: { updates: 3 } })
    expect(three.of('updated')).toHaveLength(3)
    expect(three.of('enough')).toMatchObject([{ update: 3, reason: 'updates' }])
  })

  it('when validation reaches the target', async () => {
    const { of } = await run({ schedule: { updates: 50, validateEvery: 1, target: 0.99 } })
    expect(of('updated')).toHaveLength(4)
    expect(of('evaluated').findLast(({ split }) => split === 'validation')?.rate.success).toBe(1)
    expect(of('enough')).toMatchObject([
      { update: 4, reason: 'target', message: '100 % of validation succeeds: that is the target.' },
    ])
  })

  it('when validation brings nothing new for a while', async () => {
    const { of } = await run({ model: { practice: () => 0 }, schedule: { updates: 50, validateEvery: 2, patience: 3 } })
    // Below 0.5 it waits for twice as long. Chance can look like a rise, and is waited for.
    expect(of('updated').length).toBeGreaterThanOrEqual(12)
    expect(of('updated').length).toBeLessThan(18)
    expect(of('enough')).toMatchObject([{ reason: 'patience' }])
  })

  it('sooner where next to everything succeeds', async () => {
    const { of } = await run({ schedule: { updates: 50, validateEvery: 2, patience: 3, target: null } })
    expect(of('updated').length).toBeGreaterThanOrEqual(10)
    expect(of('updated').length).toBeLessThan(16)
  })

  it('when the time is over, and the last checkpoint is validated all the same', async () => {
    let now = 0
    const clock = { now: () => (now += 10) }
    const { of } = await run({ clock, schedule: { updates: 1000, validateEvery: 400, seconds: 60 } })
    const updates = of('updated').length
    expect(updates).toBeGreaterThan(0)
    expect(updates).toBeLessThan(100)
    expect(of('enough')).toMatchObject([{ reason: 'seconds' }])
    expect(of('evaluated').map(({ split, update }) => (split === 'validation' ? update : null))).toContain(updates)
  })

  describe('when it is good enough for the time that it took', () => {
    const limited = (success: number, seconds: number) => {
      let now = 0
      const clock = { now: () => (now += 10) }
      const schedule = { updates: 40, validateEvery: 2, target: null, patience: null, goodEnough: { success, seconds } }
      return run({ clock, schedule })
    }

    it('at the first validation, where the time is over', async () => {
      const rising = (await limited(0.5, 0.01)).of('evaluated').filter(({ split }) => split === 'validation')
      expect(rising.map(({ rate }) => rate.success! >= 0.5)).toEqual([...rising.slice(1).map(() => false), true])
    })

    it('and not before the time is over', async () => {
      const late = await limited(0.5, 60)
      expect(late.of('updated').at(-1)!.seconds).toBeGreaterThan(60)
      expect(late.of('updated').length).toBeLessThan(40)
      expect(late.of('enough')).toMatchObject([{ reason: 'goodEnough' }])
    })

    it('and not while too little succeeds', async () => {
      const never = await run({
        model: { practice: () => 0 },
        schedule: { updates: 6, target: null, patience: null, goodEnough: { success: 0.99, seconds: 1e-3 } },
      })
      expect(never.of('updated')).toHaveLength(6)
    })
  })

  it('and the best validation is what is judged, not the last', async () => {
    const { of, summary } = await run({
      model: { practice: (step) => (step < 5 ? 2 : -3) },
      schedule: { updates: 4, validateEvery: 1 },
    })
    const looks = of('evaluated').flatMap(({ split, rate }) => (split === 'validation' ? [rate.success!] : []))
    expect(looks.indexOf(Math.max(...looks))).toBe(2)
    expect(summary.learned.success).toBeGreaterThan(0.45)
    expect(summary.learned.success).toBeLessThan(0.75)
  })
})

describe('the control arm', () => {
  it('imitates for as long as the run learned, is measured on the same tasks, and judges nothing', async () => {
    const { summary, of, practised } = await run({ control: true })
    expect(practised.trainers.size).toBe(0)
    expect(summary.control).toMatchObject({ n: 60 })
    expect(summary.control!.success).toBeLessThan(0.5)
    expect(summary.decision).toBe('promote')
    expect(of('evaluated').filter(({ arm, split }) => arm === 'control' && split === 'holdout')).toHaveLength(1)
  })

  it('starts where the learned arm started', async () => {
    await run()
    const { summary } = await run({ control: true, seed: 1, model: { imitation: 0 }, schedule: { updates: 1 } })
    expect(summary.control?.success).toBe(1)
  })
})

it('records when messages came for credit that reads it', async () => {
  await run({ credit: durationAware({ outcome: leaveOneOut() }), schedule: { updates: 1 } })
  const stored = await store.trajectories.list({ run: (await only()).id, limit: 500 })
  const times = stored.flatMap(({ trajectory }) => trajectory.nodes.map(({ at }) => at))
  expect(times.length).toBeGreaterThan(0)
  expect(times.filter((at) => at === undefined)).toEqual([])
})

describe('deterministic mode', () => {
  it.each([
    ['seconds', { schedule: { seconds: 5 } }],
    ['goodEnough', { schedule: { goodEnough: { success: 0.9, seconds: 5 } } }],
    ['straggler', { schedule: { straggler: 0.9 } }],
    ['control', { control: true }],
    ['budget.seconds', { budget: { ...defaultBudget, seconds: 5 } }],
    ['duration-aware', { credit: batchZScore({ outcome: durationAware({ outcome: leaveOneOut() }) }) }],
  ])('refuses %s', async (name, changes) => {
    await expect(run({ deterministic: true, ...changes })).rejects.toMatchObject({
      code: 'learn/not-deterministic',
      message: expect.stringContaining(name) as string,
    })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })
})

describe('a run that does not end well', () => {
  const failing = (): PractisedModelOptions => {
    let steps = 0
    return {
      onStep: () => {
        if (++steps === 5)
          throw new RatchetError({ code: 'model/nan', message: 'The loss is not a number.', hint: 'Lower the rate.' })
      },
    }
  }

  it('is written down with its reason, and can be resumed', async () => {
    await expect(run({ model: failing() })).rejects.toThrow('not a number')
    const failed = await only()
    expect(failed).toMatchObject({
      status: 'failed',
      failure: { code: 'model/nan', message: 'The loss is not a number.' },
      release: null,
    })
    expect(failed.endedAt).not.toBeNull()
    const { summary, of } = await run({ resume: failed.id })
    expect(summary).toMatchObject({ runId: failed.id, decision: 'promote' })
    expect(of('started')).toMatchObject([{ resumedAt: 2 }])
    expect(await only()).toMatchObject({ status: 'completed', failure: null })
  })

  it('is interrupted when told to stop, in every phase', async () => {
    for (const phase of ['primed', 'updated', 'evaluated'] as const) {
      store = await openMemoryStore()
      const stop = new AbortController()
      const onEvent = (event: LearnEvent) => event.type === phase && stop.abort(new Error('enough'))
      await expect(run({ signal: stop.signal, onEvent })).rejects.toThrow('enough')
      expect(await only()).toMatchObject({ status: 'interrupted', failure: null })
      expect((await run({ resume: (await only()).id })).summary.decision).toBe('promote')
    }
  })

  it('cannot be resumed as something else', async () => {
    await expect(run({ model: failing() })).rejects.toThrow()
    const { id } = await only()
    await expect(run({ resume: RunId.parse('run-0') })).rejects.toMatchObject({ code: 'learn/unknown-run' })
    await expect(run({ resume: id, seed: 7 })).rejects.toMatchObject({ code: 'learn/other-seed' })
    await expect(run({ resume: id, schedule: { primePasses: -1 } })).rejects.toMatchObject({ code: 'input/invalid' })
    expect(await only()).toMatchObject({ status: 'failed' })
  })

  it('and one that did tells its end again, and does nothing', async () => {
    const { summary } = await run()
    const again = await run({ resume: summary.runId })
    expect(again.summary).toEqual(summary)
    expect(again.events).toEqual([])
    expect(again.practised.requests).toEqual([])
  })

  it('is refused at once when tasks of its holdout are spent', async () => {
    const tasks = readerTasks.flatMap(({ id, split }) => (split === 'holdout' ? [id] : [])).slice(30)
    await store.ledger.append({ holdout: holdoutHash(tasks), use: 1, alpha: 0.05, run: null, at: 0 }, tasks)
    await expect(run()).rejects.toMatchObject({
      code: 'gate/holdout-exhausted',
      hint: expect.stringContaining('Hold out fresh tasks'),
    })
    expect(await store.trajectories.count({})).toBe(0)
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('is refused when it names no Parameter that can learn', async () => {
    for (const optimize of [{}, { prompt: policyGradient() }, { model: policyGradient(), other: policyGradient() }])
      await expect(run({ optimize })).rejects.toMatchObject({ code: 'learn/no-such-parameter' })
    await expect(run({ model: {}, optimize: {} })).rejects.toThrow(/the agent's Parameters are "model"/)
  })

  it('is refused on a model that is not its own, and leaves the store as it was', async () => {
    const options = (service: ModelService, deterministic = false) => ({
      ...({} as RolloutOptions),
      model: service,
      store,
      source: rollouts(wordEnvironment, readerTasks),
      optimize: { model: policyGradient() },
      deterministic,
    })
    const { service } = practisedModel()
    const { capabilities, ...sampler } = service.sampler
    const loose = { ...service, sampler: { ...sampler, capabilities: { ...capabilities, deterministic: false } } }
    const attempt = learn(reader, options({ ...service, base: 'other words' }))
    await expect(attempt).rejects.toMatchObject({ code: 'learn/other-base' })
    await expect(learn(reader, options(loose, true))).rejects.toMatchObject({ code: 'learn/not-deterministic' })
    expect(await store.releases.list({ limit: 1 })).toEqual([])
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('is refused with one model for two Parameters of weights', async () => {
    const two = defineAgent({
      name: 'two',
      parameters: { model: weights({ base: 'words' }), judge: weights({ base: 'words' }) },
      run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
    })
    const source = rollouts(wordEnvironment, readerTasks)
    const reward = rubric({ solved: verifier((final) => answeredRight(final)) })
    const options = { model: practisedModel().service, store, source, reward }
    await expect(learn(two, { ...options, optimize: { model: policyGradient() } })).rejects.toMatchObject({
      code: 'agent/several-weights',
    })
    expect(await store.releases.list({ limit: 1 })).toEqual([])
  })

  it('is refused with a control that has nothing to imitate', async () => {
    const refusal = { code: 'learn/control-without-demonstrations' }
    await expect(run({ control: true, prime: undefined as never })).rejects.toMatchObject(refusal)
    await expect(run({ control: true, prime: { demonstrations: [] } })).rejects.toMatchObject(refusal)
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it.each([
    ['another base than what serves', { base: 'other words' }],
    ['a base whose content has changed', { baseHash: 'the words with one changed' }],
  ])('is refused on %s', async (_, changed) => {
    await run({ schedule: { updates: 1 } })
    const service = { ...practisedModel().service, ...changed }
    await expect(
      learn(reader, {
        ...({} as RolloutOptions),
        model: service,
        store,
        source: rollouts(wordEnvironment, readerTasks),
        optimize: { model: policyGradient() },
      }),
    ).rejects.toMatchObject({ code: 'learn/other-base' })
  })
})

it('refuses turns that no context could hold, before anything is written', async () => {
  const store = await openMemoryStore()
  const budget = { turns: 2, tokens: 1e6, tokensPerTurn: 1e6, malformedCalls: 1, toolErrors: 2 }
  await expect(runReader(store, { budget })).rejects.toMatchObject({ code: 'learn/turn-exceeds-context' })
  expect(await store.runs.list({ limit: 1 })).toEqual([])
  await store.close()
})
