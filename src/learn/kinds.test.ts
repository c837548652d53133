import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  askedRight,
  chancesOf,
  Choice,
  choice,
  desks,
  deskTasks,
  even,
  frontDesk,
  reinforce,
} from '../../test/support/choice-kind.ts'
import { runReader } from '../../test/support/reader.ts'
import { remainsOf, runTwoLearners } from '../../test/support/two-learners.ts'
import { type Agent, defineAgent, parameter, user, weights } from '../agent/index.ts'
import { type Metrics, type Optimizer, type Store, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { policyGradient } from '../optimize/weights/index.ts'
import { deploy, Registry } from '../release/index.ts'
import { rubric, signal, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { direct } from './release-plan.ts'
import { rollouts, traffic } from './source.ts'
import { LearnFromTrafficConfig } from './source/traffic/config.ts'
import { trafficLearner } from './traffic-learner.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
const solved = rubric({ solved: verifier((final) => askedRight(final)) })
const schedule = { updates: 6, tasks: 8, attempts: 4, validateEvery: 3, patience: null, target: null }

function practise(changes: Partial<RolloutOptions> = {}, agent: Agent = frontDesk) {
  const source = rollouts(desks, deskTasks)
  return learn(agent, {
    store,
    source,
    reward: solved,
    credit: leaveOneOut(),
    optimize: { route: reinforce() },
    gate,
    schedule,
    deterministic: true,
    ...changes,
  })
}

/** What serves for a Parameter, as the choice that it is. */
async function servedChoice(agent: string, name = 'route'): Promise<Choice> {
  const { release } = await new Registry(store).current(agent)
  const version = await store.versions.get(VersionId.parse(release.versions[name]))
  const value = version && 'value' in version.value ? version.value.value : null
  return Choice.parse(value)
}

describe('a Kind of a user’s own, over rollouts', () => {
  it('learns without a model, is judged, and serves', async () => {
    const events: LearnEvent[] = []
    const summary = await practise({ onEvent: (event) => events.push(event) })
    expect(summary.decision).toBe('promote')
    expect(summary.learned.success).toBeGreaterThan(0.9)
    expect(chancesOf((await servedChoice('front-desk')).preferences)[1]).toBeGreaterThan(0.9)
    const told = events.flatMap((event) => (event.type === 'updated' ? [event.metrics] : []))
    expect(told).toHaveLength(6)
    expect(told.every((metrics: Metrics) => (metrics['route.surest'] ?? 0) > 0.5 && 'route.deposits' in metrics)).toBe(
      true,
    )
  })

  it('keeps what was decided with its propensity, as the checkpoint that decided it', async () => {
    const { runId } = await practise()
    const records = await store.trajectories.list({ run: runId, limit: 10_000 })
    const [first] = records.filter(({ trajectory }) => trajectory.id.includes('/update-1/'))
    const [made] = first?.trajectory.decisions ?? []
    expect(made).toMatchObject({ parameter: 'route', kind: 'choice', checkpoint: 1 })
    const { chosen, chances } = choice.made.parse(made?.made)
    expect(made?.propensity).toEqual({ log: Math.log(chances[chosen] ?? 0) })
    const tried = records.filter(({ trajectory }) => trajectory.id.includes('/holdout/learned/'))
    const { release } = await new Registry(store).current('front-desk')
    for (const { trajectory } of tried) {
      expect(trajectory.decisions[0]).toMatchObject({ version: release.versions['route'], checkpoint: null })
    }
  })

  it('changes nothing that serves where nothing is better', async () => {
    const idle = reinforce(0)
    expect((await practise({ optimize: { route: idle } })).decision).not.toBe('promote')
    expect(await servedChoice('front-desk')).toEqual(even)
    expect((await store.runs.list({ limit: 1 }))[0]?.versionsOut).toBeNull()
  })

  it('goes on where no group differs: an optimizer that evaluates can learn there', async () => {
    const updates: number[] = []
    await practise({
      reward: rubric({ solved: verifier(() => 0) }),
      schedule: { ...schedule, silentUpdates: 2 },
      onEvent: (event) => (event.type === 'updated' ? updates.push(event.update) : undefined),
    })
    expect(updates).toHaveLength(6)
  })

  it('lets an optimizer attempt training tasks, and gives it what came of them', async () => {
    const seen: number[] = []
    const asking: Optimizer<typeof choice> = {
      ...reinforce(),
      async open(seat, saved) {
        const learning = await reinforce().open(seat, saved)
        return {
          ...learning,
          async step(deposits, update) {
            const tasks = rollouts(desks, deskTasks).train.slice(0, 3)
            const scored = await seat.evaluate?.({ ...even, preferences: [-20, 20] }, tasks)
            seen.push(...(scored ?? []).map(({ reward }) => reward.value ?? -1))
            return learning.step(deposits, update)
          },
        }
      },
    }
    await practise({ optimize: { route: asking }, schedule: { ...schedule, updates: 1, validateEvery: 1 } })
    expect(seen).toEqual([1, 1, 1])
  })
})

describe('two learners of two kinds in one run', () => {
  it('makes a candidate of both, which a release holds', async () => {
    const { releaseId } = await runTwoLearners(store)
    expect(releaseId).not.toBeNull()
    const { versionsOut } = await remainsOf(store)
    const { release } = await new Registry(store).current('reader')
    expect(release.versions).toEqual(versionsOut)
    const [initial] = await store.releases.activations('reader')
    const before = initial && (await store.releases.get(initial.release))
    for (const name of ['model', 'route']) expect(release.versions[name]).not.toBe(before?.versions[name])
  })

  it('leaves weights as they learn alone', async () => {
    const alone = await runReader(store)
    const other = await openMemoryStore()
    const adapterOf = async (at: Store, id: typeof alone.summary.runId) =>
      (await at.runs.latestCheckpoint(id))?.blobs['best']
    const again = await runReader(other)
    expect(await adapterOf(other, again.summary.runId)).toEqual(await adapterOf(store, alone.summary.runId))
    await other.close()
  })
})

describe('a Kind of a user’s own, over traffic', () => {
  async function visited(sessions: number): Promise<void> {
    const deployment = await deploy(frontDesk, { store, environment: desks })
    for (let i = 0; i < sessions; i++) {
      const { id, decisions } = await deployment.run({ instruction: `Order ${i}?`, subject: `person-${i}` })
      const { chosen } = choice.made.parse(decisions[0]?.made)
      const said = { source: 'user', reporter: 'ratchet', tenant: 'default', name: 'thumbs' } as const
      await store.signals.append([
        { ...said, key: `s-${i}`, trajectory: id, node: null, value: chosen === 1, at: Date.now() },
      ])
    }
    await deployment.close()
  }

  const evaluation = {
    agent: frontDesk,
    environment: desks,
    holdout: rollouts(desks, deskTasks).holdout,
    reward: solved,
  }
  const fromTraffic = (agent: Agent = frontDesk) =>
    learn(agent, {
      store,
      source: traffic({ agent: 'front-desk', settle: '0s', reporters: { share: 1 }, evaluation }),
      reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
      optimize: { route: reinforce(8) },
      gate,
      release: direct(),
    })

  it('learns from what a deployed program decided, once', async () => {
    await visited(40)
    const { outcome, learned } = await fromTraffic()
    expect(outcome).toBe('released')
    expect(learned.learners).toEqual({ route: { sessions: 40, credited: 40, dropped: {} } })
    expect(chancesOf((await servedChoice('front-desk')).preferences)[1]).toBeGreaterThan(0.9)
    expect(await fromTraffic()).toMatchObject({ outcome: 'nothing-to-learn', learned: { dropped: { used: 40 } } })
  })

  it('is learned by a learner, which counts its sessions, and opens no model for an agent without weights', async () => {
    await visited(40)
    const config = LearnFromTrafficConfig.parse({
      settle: '0s',
      trainer: 'none',
      rubric: { implicit: false, guards: { noAnswer: false, inaction: false } },
      reporters: { share: 1 },
    })
    const openModel = () => Promise.reject(new Error('no model'))
    const parts = { agent: frontDesk, tenant: 'default', config, store, openModel } as const
    const { fresh, learn: learnOnce } = trafficLearner({ ...parts, optimize: { route: reinforce(8) } })
    expect(await fresh()).toBe(40)
    const held = { resume: null, signal: new AbortController().signal, mayWrite: async () => {}, onStarted: () => {} }
    expect(await learnOnce(held)).toMatchObject({
      outcome: 'shadow',
      learned: { learners: { route: { sessions: 40 } } },
    })
    expect(await fresh()).toBe(0)
    expect(await trafficLearner(parts).fresh(), 'nothing learns').toBe(0)
  })

  it('leaves out and counts decisions that its schema refuses since it changed', async () => {
    await visited(20)
    const sales = choice.made.refine(({ chosen }) => chosen === 0)
    const changed = parameter({ ...choice, made: sales as never }, even)
    const { learned } = await fromTraffic({ ...frontDesk, parameters: { route: changed } } as never)
    const { unreadable = 0 } = learned.dropped
    expect(unreadable).toBeGreaterThan(0)
    expect(learned.sessions).toBe(20 - unreadable)
  })

  it('learns nothing where nobody said anything', async () => {
    const deployment = await deploy(frontDesk, { store, environment: desks })
    await deployment.run({ instruction: 'Order 1?' })
    await deployment.close()
    const { outcome, learned } = await fromTraffic()
    expect(outcome).toBe('nothing-to-learn')
    expect(learned.dropped).toEqual({ 'missing-reward': 1 })
  })
})

describe('is refused, with nothing written', () => {
  const nothing = async () => {
    expect(await store.releases.list({ limit: 1 })).toEqual([])
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  }

  it.each([
    ['an optimizer of another kind', { route: policyGradient() }, 'learn/other-kind'],
    ['two optimizers for one Parameter', { route: [reinforce(), reinforce()] }, 'learn/several-optimizers'],
    ['a Parameter that the agent has not', { way: reinforce() }, 'learn/no-such-parameter'],
    ['no Parameter', {}, 'learn/no-such-parameter'],
  ])('%s', async (_, optimize, code) => {
    await expect(practise({ optimize: optimize as never })).rejects.toMatchObject({ code, hint: expect.any(String) })
    await nothing()
  })

  it('an initial value that its Kind refuses', async () => {
    const broken = { ...frontDesk, parameters: { route: parameter(choice, { options: ['one'], preferences: [] }) } }
    await expect(practise({}, broken as never)).rejects.toMatchObject({ code: 'agent/bad-value' })
    await nothing()
  })

  it('weights without a model', async () => {
    const reader = defineAgent({
      name: 'reader',
      parameters: { model: weights({ base: 'words' }) },
      run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
    })
    const attempt = practise({ optimize: { model: policyGradient() } }, reader as never)
    await expect(attempt).rejects.toMatchObject({ code: 'learn/no-model' })
    await nothing()
  })

  it('a session that cannot be opened', async () => {
    const closed: Optimizer<typeof choice> = { ...reinforce(), open: () => Promise.reject(new Error('no room')) }
    await expect(practise({ optimize: { route: closed } })).rejects.toThrow('no room')
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('a proposal that its Kind refuses, where it is proposed', async () => {
    const wrong = reinforce(1, { propose: async () => ({ options: [], preferences: [] }) })
    await expect(practise({ optimize: { route: wrong } })).rejects.toMatchObject({ code: 'agent/bad-value' })
    expect((await store.runs.list({ limit: 1 }))[0]).toMatchObject({ status: 'failed', versionsOut: null })
  })
})
