import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { learnedValues, office, officeIn, proposing, rest, solved, source } from '../../test/support/retiring-office.ts'
import { defineAgent, memory, weights } from '../agent/index.ts'
import { defaultTenant, type Store } from '../core/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { canary } from './release-plan.ts'
import { retire } from './retirement.ts'
import { whatLearns } from './run/parameter.ts'
import { traffic } from './source.ts'
import { LearnFromTrafficConfig } from './source/traffic/config.ts'
import { trafficLearner } from './traffic-learner.ts'

let store: Store
let at: ReturnType<typeof officeIn>
beforeEach(async () => {
  rest.knows = false
  store = await openMemoryStore()
  at = officeIn(store)
})
afterEach(() => store.close())

describe('retiring is refused', () => {
  const withWeights = defineAgent({
    ...office,
    name: 'reader',
    parameters: { model: weights({ base: 'none' }), notes: memory() },
    run: async () => ({ stopReason: 'done', message: null }),
  })
  const refusal = (message: RegExp) =>
    expect.objectContaining({ code: 'learn/cannot-retire', message: expect.stringMatching(message) })

  it('beside anything else that changes, and of weights', async () => {
    const learning = { cases: proposing('memory', learnedValues.cases) }
    for (const optimize of [
      { notes: retire(), ...learning },
      { ...learning, notes: retire() },
      { notes: retire(), tone: retire() },
    ]) {
      await expect(at.run(optimize)).rejects.toEqual(refusal(/^"(notes|tone)" is to be retired in a run that changes/))
    }
    expect(() => whatLearns(withWeights, { optimize: { model: retire() } })).toThrow(refusal(/of the kind "weights"/))
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('by a canary, without held-out tasks, and by a learner', async () => {
    await expect(at.run({ notes: retire() }, { release: canary({ name: 'rules' } as never) })).rejects.toEqual(
      refusal(/by a canary/),
    )
    const unjudged = { store, source: traffic({ agent: 'office' }), reward: solved, optimize: { notes: retire() } }
    await expect(learn(office, unjudged)).rejects.toEqual(refusal(/no held-out tasks/))
    expect(() =>
      trafficLearner({
        agent: office,
        tenant: defaultTenant,
        config: LearnFromTrafficConfig.parse({ trainer: 'none' }),
        store,
        openModel: () => Promise.reject(new Error('none')),
        optimize: { notes: retire() } as never,
      }),
    ).toThrow(refusal(/by a learner/))
  })

  it('where it has learned nothing that serves: no run is begun, and no holdout is used', async () => {
    await expect(at.run({ notes: retire() })).rejects.toMatchObject({ code: 'learn/nothing-to-retire' })
    await at.learned('notes')
    await at.run({ notes: retire() })
    const runs = await store.runs.list({ limit: 10 })
    await expect(at.run({ notes: retire() })).rejects.toMatchObject({ code: 'learn/nothing-to-retire' })
    expect(await store.runs.list({ limit: 10 })).toHaveLength(runs.length)
  })

  it('with a loss that is none', () => {
    for (const loss of [0, -0.1, 0.6, Number.NaN]) expect(() => retire({ loss })).toThrow(/loss/)
  })
})

describe('a run that is resumed', () => {
  /** Ends in the middle of measuring. */
  async function interrupted(optimize: RolloutOptions['optimize'] & {}) {
    const stop = new AbortController()
    await at
      .run(optimize, {
        signal: stop.signal,
        onEvent: (event) => event.type === 'progress' && event.phase.startsWith('holdout/learned') && stop.abort(),
      })
      .catch(() => null)
    const [first] = await store.runs.list({ limit: 1 })
    if (!first) throw new Error('no run')
    return first.id
  }

  it('goes on as what it began as', async () => {
    await at.learned('notes')
    const resume = await interrupted({ notes: retire() })
    const { decision, runId } = await at.run({ notes: retire() }, { resume })
    expect({ decision, runId }).toEqual({ decision: 'promote', runId: resume })
    const uses = await store.ledger.uses(source.holdout.map(({ id }) => id))
    expect(uses.map(({ use }) => use)).toEqual([1, 2])
  })

  it('is not judged by what may be lost where it was to show a gain, nor the other way round', async () => {
    const learning = { tone: proposing('choice', learnedValues.tone) }
    const resume = await interrupted(learning)
    await expect(at.run({ tone: retire() }, { resume })).rejects.toMatchObject({ code: 'learn/other-retirement' })
    expect((await at.run(learning, { resume })).decision).not.toBe('promote')

    const other = await openMemoryStore()
    await store.close()
    store = other
    at = officeIn(store)
    await at.learned('notes')
    const retiring = await interrupted({ notes: retire() })
    for (const optimize of [{ notes: retire({ loss: 0.2 }) }, { tone: retire() }, learning]) {
      await expect(at.run(optimize, { resume: retiring })).rejects.toMatchObject({ code: 'learn/other-retirement' })
    }
  })
})
