import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  contentHash,
  type Json,
  mintVersion,
  type PairedOutcome,
  type PairedReceipt,
  type ReleaseId,
  ReleaseId as toReleaseId,
  type Store,
  TaskId,
  type Version,
  type VersionSet,
} from '../core/index.ts'
import { holdoutHash, pairedGate, ReceiptError } from '../gate/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import {
  CandidateError,
  NothingToRollBackToError,
  NotPromotedError,
  SpentReceiptError,
  StaleReceiptError,
  UnknownAgentError,
  UnknownReleaseError,
} from './errors.ts'
import { Registry } from './registry.ts'

const agent = 'support'
const gate = pairedGate({ margin: 0.02, alpha: 0.05 })

const model = mintVersion(
  'model',
  { kind: 'weights', base: 'tiny', baseHash: 'tiny-content', adapter: null },
  { parents: [], run: null },
)
const prompt = (text: string): Version => mintVersion('system', { kind: 'text', text }, { parents: [], run: null })
const base = prompt('Answer.')
const setOf = (...versions: readonly Version[]): VersionSet =>
  Object.fromEntries(versions.map(({ parameter, id }) => [parameter, id]))

/** What the gate says of `candidate` when it solves `solved` of 60 tasks of which the baseline solves none. */
function receiptOf(baseline: VersionSet, candidate: VersionSet, solved = 60): PairedReceipt {
  const outcomes: PairedOutcome[] = Array.from({ length: 60 }, (_, i) => ({
    task: TaskId.parse(`task-${i}`),
    baseline: 0,
    candidate: i < solved ? 1 : 0,
  }))
  const use = { holdout: holdoutHash(outcomes.map(({ task }) => task)), use: 1, alpha: 0.03, run: null, at: 1 }
  return gate.makeReceipt({ agent, baseline, candidate, outcomes, use, rewardRange: [0, 1] })
}

let store: Store
let registry: Registry
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
})
afterEach(() => store.close())

/** Learns a better prompt and promotes it over whatever serves. */
async function learn(text: string) {
  const serving = (await registry.current(agent)).release.versions
  const better = prompt(text)
  const receipt = receiptOf(serving, { ...serving, system: better.id })
  return registry.promote({ receipt, versions: [better], run: null })
}

const serving = async () => (await registry.current(agent)).release.id

describe('the initial release', () => {
  it('is the agent before learning, once', async () => {
    const release = await registry.initial(agent, [model, base], 5)
    expect(release).toMatchObject({ agent, versions: setOf(model, base), receipt: null, run: null, createdAt: 5 })
    expect(await registry.initial(agent, [base, model], 9)).toEqual(release)
    const { activation } = await registry.current(agent)
    expect(activation).toEqual({ agent, release: release.id, reason: 'initial', generation: 1, at: 5 })
    expect(await store.versions.get(base.id)).toEqual(base)
  })

  it('stays what it was, declared again', async () => {
    await registry.initial(agent, [model, base])
    await learn('better')
    expect((await registry.initial(agent, [model, base])).versions).toEqual(setOf(model, base))
    expect(await registry.list(agent)).toHaveLength(2)
  })

  it('is what an agent needs before anything else', async () => {
    await expect(registry.current(agent)).rejects.toThrow(UnknownAgentError)
    await expect(registry.rollback(agent)).rejects.toThrow(UnknownAgentError)
    await expect(registry.off(agent)).rejects.toThrow(UnknownAgentError)
    const receipt = receiptOf(setOf(base), setOf(prompt('b')))
    await expect(registry.promote({ receipt, versions: [prompt('b')], run: null })).rejects.toThrow(UnknownAgentError)
  })
})

describe('promote: only a gate makes a release (invariant 7)', () => {
  const better = prompt('better')
  beforeEach(() => registry.initial(agent, [model, base]))

  const expectNothingChanged = async () => {
    expect((await registry.current(agent)).release.versions).toEqual(setOf(model, base))
    expect(await registry.list(agent)).toHaveLength(1)
    expect(await store.versions.get(better.id)).toBeNull()
  }

  it('lets what a gate promoted serve', async () => {
    const receipt = receiptOf(setOf(model, base), setOf(model, better))
    const release = await registry.promote({ receipt, versions: [better], run: null, at: 7 })
    expect(release).toMatchObject({ versions: setOf(model, better), receipt: receipt.id, createdAt: 7 })
    const { activation } = await registry.current(agent)
    expect(activation).toEqual({ agent, release: release.id, reason: 'promote', generation: 2, at: 7 })
    expect(await store.receipts.get(receipt.id)).toEqual(receipt)
    expect(await store.versions.get(better.id)).toEqual(better)
    expect(await store.ledger.uses(receipt.outcomes.map(({ task }) => task))).toEqual([])
  })

  it('refuses what a gate did not promote', async () => {
    for (const solved of [0, 1]) {
      const receipt = receiptOf(setOf(model, base), setOf(model, better), solved)
      expect(receipt.decision).not.toBe('promote')
      await expect(registry.promote({ receipt, versions: [better], run: null })).rejects.toThrow(NotPromotedError)
    }
    await expectNothingChanged()
  })

  it('refuses a receipt that was changed, signed again or not', async () => {
    const { id: _, ...honest } = receiptOf(setOf(model, base), setOf(model, better), 1)
    const body = { ...honest, decision: 'promote' as const }
    const forgeries = [honest.use.holdout, contentHash(JSON.parse(JSON.stringify(body)) as Json)]
    for (const id of forgeries) {
      const receipt = { ...body, id } as PairedReceipt
      await expect(registry.promote({ receipt, versions: [better], run: null })).rejects.toThrow(ReceiptError)
    }
    await expectNothingChanged()
  })

  it('does not take the word of a receipt over its replay', async () => {
    const receipt = receiptOf(setOf(model, base), setOf(model, better))
    const doubtful = new Registry(store, () => 'hold')
    await expect(doubtful.promote({ receipt, versions: [better], run: null })).rejects.toThrow('lead to "hold"')
    await expectNothingChanged()
  })

  it('refuses evidence against something that does not serve', async () => {
    const receipt = receiptOf(setOf(model, prompt('older')), setOf(model, better))
    await expect(registry.promote({ receipt, versions: [better], run: null })).rejects.toThrow(StaleReceiptError)
    await expectNothingChanged()
  })

  it('refuses versions that were not gated', async () => {
    const receipt = receiptOf(setOf(model, base), setOf(model, better))
    const promote = (versions: readonly Version[], of = receipt) =>
      registry.promote({ receipt: of, versions, run: null })
    const changed = { ...better, value: { kind: 'text' as const, text: 'not gated' } }
    await expect(promote([changed])).rejects.toThrow('changed after it was minted')
    await expect(promote([prompt('not gated')])).rejects.toThrow('was not gated')
    await expect(promote([])).rejects.toThrow('neither given nor in the store')
    await expect(promote([better], receiptOf(setOf(model, base), setOf(better)))).rejects.toThrow(CandidateError)
    await expectNothingChanged()
  })

  it('promotes once: a run that resumes finds its release, and nothing undoes a rollback', async () => {
    const receipt = receiptOf(setOf(model, base), setOf(model, better))
    const promotion = { receipt, versions: [better], run: null }
    const release = await registry.promote(promotion)
    expect(await registry.promote({ ...promotion, at: 99 })).toEqual(release)
    expect(await store.releases.activations(agent)).toHaveLength(2)
    await registry.rollback(agent)
    await expect(registry.promote(promotion)).rejects.toThrow(SpentReceiptError)
    expect((await registry.current(agent)).release.versions).toEqual(setOf(model, base))
  })

  it('has one winner when two candidates are promoted at once', async () => {
    const candidates = ['a', 'b', 'c'].map(prompt)
    const outcomes = await Promise.allSettled(
      candidates.map((version) => {
        const receipt = receiptOf(setOf(model, base), setOf(model, version))
        return registry.promote({ receipt, versions: [version], run: null })
      }),
    )
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await registry.list(agent)).toHaveLength(2)
  })
})

describe('rollback', () => {
  let initial: ReleaseId
  beforeEach(async () => {
    initial = (await registry.initial(agent, [model, base])).id
  })

  it('goes back step by step, at once, and says when nothing is left', async () => {
    const b = await learn('b')
    const c = await learn('c')
    expect(await serving()).toBe(c.id)
    expect(await registry.rollback(agent)).toEqual(b)
    expect(await serving()).toBe(b.id)
    expect((await registry.rollback(agent)).id).toBe(initial)
    await expect(registry.rollback(agent)).rejects.toThrow(NothingToRollBackToError)
    expect(await serving()).toBe(initial)
    const { activation } = await registry.current(agent)
    expect(activation).toMatchObject({ generation: 5, reason: 'rollback' })
  })

  it('lets every earlier release come back, and goes on from there', async () => {
    const b = await learn('b')
    const c = await learn('c')
    await registry.off(agent)
    expect((await registry.rollback(agent, c.id)).id).toBe(c.id)
    expect((await registry.rollback(agent)).id).toBe(b.id)
    const d = await learn('d')
    expect((await registry.rollback(agent)).id).toBe(b.id)
    await registry.rollback(agent, d.id)
    expect(await serving()).toBe(d.id)
    expect((await registry.list(agent)).map(({ id }) => id)).toEqual([d.id, c.id, b.id, initial])
  })

  it('changes nothing when the release serves already', async () => {
    const b = await learn('b')
    await registry.rollback(agent, b.id)
    expect(await store.releases.activations(agent)).toHaveLength(2)
  })

  it('knows only releases of this agent', async () => {
    const other = await registry.initial('other', [model])
    await expect(registry.rollback(agent, other.id)).rejects.toThrow(UnknownReleaseError)
    await expect(registry.rollback(agent, toReleaseId.parse('none'))).rejects.toThrow('has no release none')
    expect(await serving()).toBe(initial)
  })

  it('keeps generations rising by one, whatever is done', async () => {
    const act = fc.constantFrom('learn', 'back', 'off', 'named')
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const fresh = await openMemoryStore()
        registry = new Registry(fresh)
        await registry.initial(agent, [model, base])
        const served = new Set<string>()
        for (const [i, name] of acts.entries()) {
          served.add(await serving())
          if (name === 'learn') await learn(`p${i}`)
          if (name === 'off') await registry.off(agent)
          if (name === 'back') await registry.rollback(agent).catch(() => {})
          if (name === 'named') await registry.rollback(agent, toReleaseId.parse([...served][i % served.size]))
        }
        const activations = await fresh.releases.activations(agent)
        expect(activations.map(({ generation }) => generation)).toEqual(activations.map((_, i) => i + 1))
        expect((await registry.off(agent)).versions).toEqual(setOf(model, base))
        await fresh.close()
      }),
      { numRuns: 25 },
    )
  })
})

it('off is the base agent exactly, whatever was learned (invariant 9)', async () => {
  const initial = await registry.initial(agent, [model, base])
  for (const text of ['b', 'c', 'd']) await learn(text)
  expect(await registry.off(agent)).toEqual(initial)
  const { release } = await registry.current(agent)
  expect(release.versions).toEqual(setOf(model, base))
  const weights = await store.versions.get(model.id)
  expect(weights?.value).toEqual({ kind: 'weights', base: 'tiny', baseHash: 'tiny-content', adapter: null })
  await registry.off(agent)
  expect((await registry.current(agent)).activation.generation).toBe(5)
})
