import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { skillIn } from '../../test/support/practised-model.ts'
import { shown, smallSchedule } from '../../test/support/small-run.ts'
import { creditOnly, runTeam, team, teamModels } from '../../test/support/two-weights.ts'
import { wordEnvironment } from '../../test/support/word-environment.ts'
import { asWeights, savedAt, Signal, type Store } from '../core/index.ts'
import { batchBaseline, leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { policyGradient, sequence } from '../optimize/weights/index.ts'
import { deploy, Registry } from '../release/index.ts'
import { outcome, rubric } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { direct, learn, shadow, traffic, type TrafficOptions } from './index.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** So many attempts that some fail and some succeed in every update. */
const telling = { ...smallSchedule, tasks: 8, attempts: 6 }

const changed = async (parameter: string, run: string) => {
  const versionsOut = (await store.runs.get(run as never))?.versionsOut
  return (await store.versions.get(versionsOut![parameter]!))?.run === run
}

describe('two Parameters of weights learn in one run', () => {
  it('each with its own adapter, and one release names both', async () => {
    const { runId, releaseId, brought } = await runTeam(store, { schedule: telling })
    const { release } = await new Registry(store).current('team')
    expect(release.id).toBe(releaseId)
    const skills: number[] = []
    for (const parameter of ['planner', 'reader']) {
      const version = (await store.versions.get(release.versions[parameter]!))!
      expect(version).toMatchObject({ parameter, run: runId, value: { kind: 'weights', base: 'words' } })
      skills.push(skillIn(await savedAt(store.blobs, asWeights(version.value)!.adapter!)))
    }
    // Two updates of 3 each; one pass of imitation, and two updates of 5 each, up to 10.
    expect(skills).toEqual([6, 10])
    expect(brought?.map(({ parameter }) => parameter)).toEqual(['planner', 'reader'])
  })

  it('and every sample carries the Versions of both', async () => {
    const { runId } = await runTeam(store)
    const records = await store.trajectories.list({ run: runId, limit: 10_000 })
    const learned = records.filter(({ trajectory }) => trajectory.id.includes('/holdout/learned/'))
    expect(learned).toHaveLength(16)
    const { versionsOut } = (await store.runs.get(runId))!
    for (const { trajectory } of learned) {
      for (const { parameter, version } of trajectory.decisions) expect(version).toBe(versionsOut![parameter])
      expect(new Set(trajectory.decisions.map(({ parameter }) => parameter))).toEqual(new Set(['planner', 'reader']))
    }
  })

  it('each from its own decisions: one without credit stays as it serves, and is no part of the candidate', async () => {
    const models = teamModels()
    const { runId } = await runTeam(store, { credit: creditOnly('reader', leaveOneOut()) }, models)
    expect(await changed('reader', runId)).toBe(true)
    expect(await changed('planner', runId)).toBe(false)
    for (const { adapters, trainers } of Object.values(models)) expect([adapters.size, trainers.size]).toEqual([0, 0])
  })

  it('and what it tells of each is named by it', async () => {
    const events: LearnEvent[] = []
    await runTeam(store, { schedule: telling, onEvent: (event) => events.push(event) })
    const [updated] = events.flatMap((event) => (event.type === 'updated' ? [event] : []))
    expect(updated?.metrics).toMatchObject({ 'planner.steps': 1, 'reader.steps': 1 })
    expect(updated?.metrics).not.toHaveProperty('steps')
    expect(events.find(({ type }) => type === 'primed')).toMatchObject({ parameter: 'reader', pass: 1 })
  })

  it('and one that does not learn acts as it serves', async () => {
    const { runId } = await runTeam(store, { optimize: { reader: policyGradient() } })
    expect(await changed('planner', runId)).toBe(false)
    expect(await changed('reader', runId)).toBe(true)
  })

  it('and a later run goes on from what serves of both, and stays on it where it learns one', async () => {
    await runTeam(store)
    const before = (await new Registry(store).current('team')).release
    const models = teamModels()
    const { runId } = await runTeam(
      store,
      { optimize: { planner: sequence(policyGradient()) }, prime: undefined as never },
      models,
    )
    const { versionsIn } = (await store.runs.get(runId))!
    expect(versionsIn).toEqual(before.versions)
    const first = (await store.trajectories.list({ run: runId, limit: 1 }))[0]!
    expect(first.trajectory.decisions.find(({ parameter }) => parameter === 'reader')?.version).toBe(
      before.versions['reader'],
    )
  })
})

describe('from production', () => {
  /** The practised model's trainer computes no probabilities: nothing tells how far it has moved. */
  const bounds = { epochs: 1, ratio: [1e-9, 1e9] as [number, number], divergence: 1e9 }
  const reward = rubric({ arrived: outcome('arrived', { values: { false: 0 } }) })

  async function recordedTeam() {
    const { planner, reader } = teamModels()
    const models = { planner: planner.service, reader: reader.service }
    // Something has to go right before anything can be learned.
    await runTeam(store, { release: direct(), gate: pairedGate({ margin: 0, alpha: 0.25 }) }, { planner, reader })
    const deployment = await deploy(team, { store, environment: wordEnvironment, models, everyMs: 5 })
    for (let i = 0; i < 12; i++) {
      const session = await deployment.run({ instruction: `What is the word of w${i}?`, data: { secret: `s${i}` } })
      const value = i % 2 === 0
      const said = { key: session.id, trajectory: session.id, node: null, source: 'outcome', name: 'arrived' }
      await store.signals.append([Signal.parse({ ...said, at: Date.now(), value })])
    }
    await deployment.close()
    expect(planner.adapters.size + reader.adapters.size, 'adapters are unloaded').toBe(0)
    return models
  }

  const learnFromIt = (
    models: Awaited<ReturnType<typeof recordedTeam>>,
    more: Pick<TrafficOptions, 'release' | 'onEvent'> = {},
  ) =>
    learn(team, {
      models,
      store,
      source: traffic({ agent: 'team', settle: '0s', reporters: { share: 1 } }),
      reward,
      credit: batchBaseline(),
      optimize: { planner: sequence(policyGradient()), reader: sequence(policyGradient()) },
      schedule: bounds,
      ...more,
    })

  it('both learn from the same sessions, each from what it decided', async () => {
    const models = await recordedTeam()
    const events: LearnEvent[] = []
    const {
      runId,
      outcome: became,
      learned,
      passes,
    } = await learnFromIt(models, { release: shadow(), onEvent: (event) => events.push(event) })
    expect(became).toBe('shadow')
    expect(learned.learners).toMatchObject({ planner: { sessions: 12 }, reader: { sessions: 12 } })
    expect(passes.epochs).toBe(2)
    expect(events.flatMap((event) => (event.type === 'practised' ? [event.parameter] : []))).toEqual([
      'planner',
      'reader',
    ])
    expect(await changed('planner', runId)).toBe(true)
    expect(await changed('reader', runId)).toBe(true)
  })

  it('sessions teach each of them once', async () => {
    const models = await recordedTeam()
    await learnFromIt(models)
    expect((await learnFromIt(models)).outcome).toBe('nothing-to-learn')
  })
})

describe('models are refused, before anything starts,', () => {
  const { planner, reader } = teamModels()
  const both = { planner: planner.service, reader: reader.service }
  it.each([
    ['where both forms are given', { model: reader.service, models: both }, 'agent/model-and-models'],
    ['where one has to answer for two', { model: reader.service, models: undefined }, 'agent/several-weights'],
    ['that name no weights', { models: { ...both, critic: reader.service } }, 'agent/no-such-weights'],
    ['where one is missing', { models: { reader: reader.service } }, 'learn/no-model'],
    ['of another base', { models: { ...both, planner: { ...planner.service, base: 'letters' } } }, 'learn/other-base'],
    [
      'whose trainer lacks a loss',
      {
        models: {
          ...both,
          planner: {
            ...planner.service,
            trainer: async () => {
              const trainer = await planner.service.trainer({ kind: 'lora', rank: 4, alpha: 4 }, 0)
              return Object.assign(trainer, { capabilities: { ...trainer.capabilities, losses: [] } })
            },
          },
        },
      },
      'learn/trainer-lacks',
    ],
  ])('%s', async (_, given, code) => {
    await expect(runTeam(store, given as never)).rejects.toMatchObject({ code })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
    expect(planner.trainers.size + reader.trainers.size, 'no trainer is left open').toBe(0)
  })

  it('and so are demonstrations of which nobody said whose acts they show', async () => {
    const whose = { code: 'learn/whose-demonstrations' }
    await expect(runTeam(store, { prime: { demonstrations: [{ messages: shown }] } })).rejects.toMatchObject(whose)
    const prime = { demonstrations: [{ messages: shown }], parameter: 'critic' }
    await expect(runTeam(store, { prime })).rejects.toMatchObject(whose)
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('and a run that resumes with other weights than it began with', async () => {
    const signal = AbortSignal.abort()
    await runTeam(store, { signal }).catch(() => {})
    const [begun] = await store.runs.list({ limit: 1 })
    const optimize = { reader: policyGradient() }
    await expect(runTeam(store, { resume: begun!.id, optimize })).rejects.toMatchObject({
      code: 'learn/other-sequence',
    })
  })
})
