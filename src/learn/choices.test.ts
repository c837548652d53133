import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askedRight, desks, deskTasks } from '../../test/support/choice-kind.ts'
import { dieAnywhere } from '../../test/support/die-anywhere.ts'
import { remainsOf } from '../../test/support/two-learners.ts'
import { chancesOf, choice, ChoiceValue, defineAgent, MadeChoice, optionCosts } from '../agent/index.ts'
import { type Store, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { linUcb, reinforce, thompson } from '../optimize/choice/index.ts'
import { deploy, Registry } from '../release/index.ts'
import { rubric, signal, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { direct } from './release-plan.ts'
import { rollouts, traffic } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Asks one of two desks, of which `refunds` is right. */
const frontDesk = defineAgent({
  name: 'front-desk',
  parameters: { route: choice({ options: ['sales', 'refunds'] }) },
  async run(_task, { route }, episode) {
    await episode.step({ kind: 'message', content: await route.choose() })
    return { stopReason: 'done', message: null }
  },
})

const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
const solved = rubric({ solved: verifier((final) => askedRight(final)) })
const practise = (at: Store, changes: Partial<RolloutOptions> = {}) =>
  learn(frontDesk, {
    store: at,
    source: rollouts(desks, deskTasks),
    reward: solved,
    credit: leaveOneOut(),
    optimize: { route: thompson() },
    gate,
    schedule: { updates: 6, tasks: 8, attempts: 4, validateEvery: 3, patience: null, target: null },
    deterministic: true,
    ...changes,
  })

async function served(): Promise<ChoiceValue> {
  const { release } = await new Registry(store).current('front-desk')
  const version = await store.versions.get(VersionId.parse(release.versions['route']))
  return ChoiceValue.parse(version && 'value' in version.value ? version.value.value : null)
}

const optimizers = [reinforce({ learningRate: 4 }), thompson(), linUcb()]

describe('a choice', () => {
  it.each(optimizers)('learns from practice by $name, is judged, and serves', async (optimizer) => {
    const { decision } = await practise(store, { optimize: { route: optimizer } })
    expect(decision).toBe('promote')
    expect(chancesOf(await served(), []).chances[1]).toBeGreaterThan(0.9)
  })

  it.each(optimizers)('learns from production by $name, and serves', async (optimizer) => {
    const deployment = await deploy(frontDesk, { store, environment: desks })
    for (let i = 0; i < 60; i++) {
      const { id, decisions } = await deployment.run({ instruction: `Order ${i}?`, subject: `person-${i}` })
      const { chosen } = MadeChoice.parse(decisions[0]?.made)
      const said = { source: 'user', reporter: 'ratchet', tenant: 'default', name: 'thumbs', node: null } as const
      await store.signals.append([{ ...said, key: `s-${i}`, trajectory: id, value: chosen === 1, at: Date.now() }])
    }
    await deployment.close()
    const holdout = rollouts(desks, deskTasks).holdout
    const evaluation = { agent: frontDesk, environment: desks, holdout, reward: solved }
    const { outcome, learned } = await learn(frontDesk, {
      store,
      source: traffic({ agent: 'front-desk', settle: '0s', reporters: { share: 1 }, evaluation }),
      reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
      optimize: { route: optimizer },
      gate,
      release: direct(),
    })
    expect(outcome).toBe('released')
    expect(learned.learners).toEqual({ route: { sessions: 60, credited: 60, dropped: {} } })
    expect(chancesOf(await served(), []).chances[1]).toBeGreaterThan(0.7)
  })

  it('learns what it is worth from sessions that all earned the same', async () => {
    const deployment = await deploy(frontDesk, { store, environment: desks })
    for (let i = 0; i < 30; i++) {
      const { id } = await deployment.run({ instruction: `Order ${i}?` })
      const said = { source: 'user', reporter: 'ratchet', tenant: 'default', name: 'thumbs', node: null } as const
      await store.signals.append([{ ...said, key: `s-${i}`, trajectory: id, value: true, at: Date.now() }])
    }
    await deployment.close()
    const holdout = rollouts(desks, deskTasks).holdout
    const run = await learn(frontDesk, {
      store,
      source: traffic({
        agent: 'front-desk',
        settle: '0s',
        reporters: { share: 1 },
        evaluation: { agent: frontDesk, environment: desks, holdout, reward: solved },
      }),
      reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
      optimize: { route: thompson() },
      gate,
    })
    const version = await store.versions.get(VersionId.parse(run.candidate))
    const { options } = ChoiceValue.parse(version && 'value' in version.value ? version.value.value : null)
    const seen = options.map(({ quality }) => ('alpha' in quality ? quality.alpha + quality.beta - 2 : 0))
    expect(seen.reduce((a, b) => a + b, 0)).toBeCloseTo(30, 9)
  })

  it('takes a success for one and a failure for none, whatever several choices of an episode cost', async () => {
    const desk = defineAgent({
      name: 'front-desk',
      parameters: { route: choice({ options: ['sales', { name: 'refunds', cost: 0.3 }] }) },
      async run(_task, { route }, episode) {
        let asked = ''
        for (const key of ['0', '1', '2', '3', '4']) asked = await route.choose([], { key })
        await episode.step({ kind: 'message', content: asked })
        return { stopReason: 'done', message: null }
      },
    })
    const qualities: number[] = []
    const hears: ReturnType<typeof thompson> = {
      ...thompson(),
      async open(...given) {
        const learning = await thompson().open(...given)
        return {
          ...learning,
          step(deposits, update) {
            qualities.push(...deposits.map(({ earned, charged }) => (earned ?? Number.NaN) + charged))
            return learning.step(deposits, update)
          },
        }
      },
    }
    await learn(desk, {
      store,
      source: rollouts(desks, deskTasks),
      reward: rubric({ solved: verifier((final) => askedRight(final)), price: optionCosts('route') }),
      credit: leaveOneOut(),
      optimize: { route: hears },
      gate,
      schedule: { updates: 2, tasks: 4, attempts: 4, validateEvery: 2, patience: null, target: null },
      deterministic: true,
    })
    expect(qualities).toHaveLength(2 * 4 * 4 * 5)
    const [failures, successes] = [0, 1].map((end) => qualities.filter((one) => Math.abs(one - end) < 1e-9).length)
    expect((failures ?? 0) + (successes ?? 0)).toBe(qualities.length)
    expect(Math.min(failures ?? 0, successes ?? 0)).toBeGreaterThan(0)
  })

  it('repeats in deterministic mode', async () => {
    const { learned } = await practise(store)
    const other = await openMemoryStore()
    expect((await practise(other)).learned).toEqual(learned)
    expect(await remainsOf(other)).toEqual(await remainsOf(store))
    await other.close()
  })

  it.each(optimizers)('comes to the same by $name wherever its process died', async (optimizer) => {
    const small = { updates: 2, tasks: 2, attempts: 2, validateEvery: 1, holdoutTasks: 4, patience: null, target: null }
    const changes = { optimize: { route: optimizer }, schedule: small }
    await practise(store, changes)
    const expected = await remainsOf(store)
    expect(expected.proposed).not.toEqual({})
    const died = await dieAnywhere({
      first: 1,
      every: 5,
      run: (at, resume) => practise(at, { ...changes, ...(resume && { resume }) }),
      check: async (at, n) => expect(await remainsOf(at), `died at write ${n}`).toEqual(expected),
    })
    expect(died).toBeGreaterThan(5)
  })
})
