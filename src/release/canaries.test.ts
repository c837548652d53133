import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Audit, type Canary, CanaryId, type ReleaseId, RunId, type Store } from '../core/index.ts'
import { ReceiptError } from '../gate/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import {
  admissionOf,
  agent,
  base,
  canaryReceiptOf,
  model,
  prompt,
  quickGate,
  rampGate,
  setOf,
} from '../../test/support/canary-parts.ts'
import {
  CanaryEndedError,
  CanaryRunningError,
  NothingToTryError,
  OtherCanaryError,
  PinnedError,
  UnknownCanaryError,
} from './canary-errors.ts'
import { assertOfCanary } from './canary-record.ts'
import { CandidateError, NotPromotedError, StaleReceiptError, UnknownAgentError } from './errors.ts'
import { type NewCanary, Registry } from './index.ts'

const better = prompt('better')
const served = setOf(model, base)
const tried = setOf(model, better)

let store: Store
let registry: Registry
let initial: ReleaseId
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  initial = (await registry.initial(agent, [model, base], 1)).id
})
afterEach(() => store.close())

const start = (options: Partial<NewCanary> = {}) =>
  registry.startCanary({ agent, versions: [better], admission: null, run: null, gate: quickGate, at: 10, ...options })
const typesOf = async ({ id }: Canary) => (await store.canaries.events(id)).map(({ type, share }) => [type, share])
const alerts = () => store.alerts.list({ agent, limit: 10 })

/** What a refused change leaves as it was. */
const expectNothing = async () => {
  expect(await store.canaries.list({ agent, limit: 10 })).toEqual([])
  expect((await registry.current(agent)).release.id).toBe(initial)
}

describe('a canary starts', () => {
  it('beside what serves, with the first share, and has a story from then on', async () => {
    const before = await store.releases.revision()
    const canary = await start({ gate: rampGate, salt: 'salt' })
    expect(canary).toMatchObject({
      agent,
      baseline: initial,
      candidate: setOf(better),
      admission: null,
      gate: { name: 'canary', config: rampGate.config },
      shares: [0.2, 0.5],
      step: 0,
      salt: 'salt',
      generation: 2,
      status: 'running',
      startedAt: 10,
      stepAt: 10,
    })
    expect(await registry.runningCanary(agent)).toEqual(canary)
    expect(await registry.runningCanary('other')).toBeNull()
    expect((await registry.current(agent)).release.id).toBe(initial)
    expect(await store.versions.get(better.id)).toEqual(better)
    expect(await store.canaries.events(canary.id)).toMatchObject([
      { type: 'started', share: 0.2, reasons: ['20 % of the sessions get the candidate'], at: 10 },
    ])
    expect(await store.releases.revision()).toBeGreaterThan(before)
  })

  it('with an admission, which is kept; its versions may be in the store already', async () => {
    await store.versions.put(better)
    const admission = admissionOf(served, tried)
    const canary = await start({ versions: [], admission })
    expect(canary).toMatchObject({ admission: admission.id, candidate: setOf(better) })
    expect(await store.receipts.get(admission.id)).toEqual(admission)
  })

  it('with a salt that nobody can guess', async () => {
    const one = await start()
    await registry.rollBackCanary(one.id, { reasons: ['enough'], at: 20 })
    expect((await start({ at: 30 })).salt).not.toBe(one.salt)
  })

  it('once: a run that resumes finds its canary, running or ended', async () => {
    const run = RunId.parse('run-1')
    await store.runs.create({
      id: run,
      agent,
      config: {},
      seed: 1,
      status: 'running',
      versionsIn: served,
      versionsOut: null,
      receipt: null,
      release: null,
      failure: null,
      startedAt: 1,
      endedAt: null,
    })
    const canary = await start({ run })
    expect(await start({ run, at: 99 })).toEqual(canary)
    await registry.endCanary(canary.id, { reasons: ['nothing was shown'], at: 20 })
    await expect(start({ run, at: 99 })).rejects.toThrow('runs no more (ended): nothing was shown')
    expect((await start({ at: 99 })).id).not.toBe(canary.id)
  })

  it('one at a time, of several that are started at once', async () => {
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((text) => start({ versions: [prompt(text)] })))
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
    await expect(start({ versions: [prompt('d')] })).rejects.toThrow(CanaryRunningError)
  })

  it('but not with an admission that does not promote it over what serves', async () => {
    await expect(start({ admission: admissionOf(served, tried, 1) })).rejects.toThrow(NotPromotedError)
    await expect(start({ admission: { ...admissionOf(served, tried), reasons: ['so'] } })).rejects.toThrow(ReceiptError)
    await expect(start({ admission: admissionOf(setOf(model, prompt('older')), tried) })).rejects.toThrow(
      StaleReceiptError,
    )
    await expect(start({ versions: [prompt('other')], admission: admissionOf(served, tried) })).rejects.toThrow(
      CandidateError,
    )
    await expectNothing()
  })

  it('but not with nothing to try, missing versions, or without an agent', async () => {
    await expect(start({ versions: [base] })).rejects.toThrow(NothingToTryError)
    await expect(start({ versions: [], admission: admissionOf(served, tried) })).rejects.toThrow(
      'neither given nor in the store',
    )
    await expect(start({ versions: [{ ...better, value: { kind: 'text', text: 'changed' } }] })).rejects.toThrow(
      'changed after it was minted',
    )
    await expect(start({ agent: 'nobody' })).rejects.toThrow(UnknownAgentError)
    await expectNothing()
  })

  it('but not while what serves is pinned', async () => {
    await registry.pin(agent, 'the fair', { at: 5 })
    await expect(start()).rejects.toThrow('pinned: the fair')
    await expectNothing()
  })
})

describe('a canary goes on', () => {
  const note = { reasons: ['nothing speaks of harm'], evidence: { sessions: 12 } }

  it('to the next share, once for what was seen', async () => {
    const canary = await start({ gate: rampGate })
    const next = await registry.advanceCanary(canary, note, 20)
    expect(next).toMatchObject({ step: 1, stepAt: 20, status: 'running' })
    expect(await registry.advanceCanary(canary, note, 30)).toEqual(next)
    await registry.holdCanary(canary.id, { reasons: ['wait'] }, 40)
    expect(await typesOf(canary)).toEqual([
      ['started', 0.2],
      ['advanced', 0.5],
      ['held', 0.5],
    ])
    expect((await store.canaries.events(canary.id))[1]).toMatchObject({ ...note, at: 20 })
    await expect(registry.advanceCanary(next, note)).rejects.toThrow('no share after its last')
  })

  it('but not while what serves is pinned, and not when it has ended', async () => {
    const canary = await start({ gate: rampGate })
    await registry.pin(agent, 'the fair')
    await expect(registry.advanceCanary(canary, note)).rejects.toThrow(PinnedError)
    await registry.rollBackCanary(canary.id, { reasons: ['enough'] })
    await expect(registry.advanceCanary(canary, note)).rejects.toThrow(CanaryEndedError)
    await expect(registry.holdCanary(canary.id, note)).rejects.toThrow(CanaryEndedError)
  })
})

describe('a canary becomes a release', () => {
  it('by its receipt, which also closes it', async () => {
    const canary = await start()
    const receipt = canaryReceiptOf(canary, served)
    expect(receipt.decision).toBe('promote')
    const { release, canary: closed } = await registry.promoteCanary(receipt, 50)
    expect(release).toMatchObject({ agent, versions: tried, receipt: receipt.id, run: null, createdAt: 50 })
    expect(await registry.current(agent)).toMatchObject({
      release: { id: release.id },
      activation: { reason: 'promote', generation: canary.generation, at: 50 },
    })
    expect(closed).toMatchObject({ status: 'promoted', receipt: receipt.id, endedAt: 50 })
    expect(await store.canaries.get(canary.id)).toEqual(closed)
    expect(await typesOf(canary)).toEqual([
      ['started', 0.5],
      ['promoted', 1],
    ])
    expect(await store.receipts.get(receipt.id)).toEqual(receipt)
    expect(await registry.runningCanary(agent)).toBeNull()
    expect(await alerts()).toEqual([])

    expect((await registry.promoteCanary(receipt, 60)).release).toEqual(release)
    expect(await store.releases.activations(agent)).toHaveLength(2)
    await registry.rollback(agent)
    expect((await registry.current(agent)).release.id).toBe(initial)
  })

  it('only by a receipt that promotes exactly it, by the rules that it began with', async () => {
    const canary = await start({ gate: rampGate })
    const receipt = canaryReceiptOf(canary, served, { gate: rampGate })
    const refused: readonly [Parameters<Registry['promoteCanary']>[0], new (...args: never[]) => Error][] = [
      [
        canaryReceiptOf(canary, served, { gate: rampGate, earned: { baseline: 0.5, candidate: 0.5 } }),
        NotPromotedError,
      ],
      [canaryReceiptOf(canary, served, { gate: rampGate, earned: { baseline: 1, candidate: 0 } }), NotPromotedError],
      [{ ...receipt, agent: 'other' }, ReceiptError],
      [canaryReceiptOf(canary, served, { gate: rampGate, of: CanaryId.parse('none') }), UnknownCanaryError],
      [canaryReceiptOf(canary, served, { gate: quickGate }), OtherCanaryError],
      [canaryReceiptOf({ ...canary, step: 1 }, served, { gate: rampGate }), OtherCanaryError],
      [canaryReceiptOf({ ...canary, agent: 'other' }, served, { gate: rampGate }), OtherCanaryError],
      [canaryReceiptOf({ ...canary, candidate: served }, served, { gate: rampGate }), OtherCanaryError],
      [canaryReceiptOf({ ...canary, admission: receipt.id }, served, { gate: rampGate }), OtherCanaryError],
      [canaryReceiptOf(canary, tried, { gate: rampGate }), StaleReceiptError],
    ]
    for (const [given, error] of refused) await expect(registry.promoteCanary(given)).rejects.toThrow(error)
    expect(await registry.runningCanary(agent)).toEqual(canary)
    expect(await registry.list(agent)).toHaveLength(1)
  })

  it('by rules that were kept before an audit could have a judge, too', async () => {
    const canary = await start({ gate: rampGate })
    const receipt = canaryReceiptOf(canary, served, { gate: rampGate })
    const audit = { share: 0.5, by: 'person' }
    const decidedBy = (by: object) => ({
      ...receipt,
      gate: { ...receipt.gate, config: { ...receipt.gate.config, audit: by as never } },
    })
    const kept = { ...canary, gate: { ...canary.gate, config: { ...canary.gate.config, audit } } }
    const patch = receipt.candidate
    expect(() => assertOfCanary(kept, patch, decidedBy(Audit.parse(audit)))).not.toThrow()
    const other = decidedBy(Audit.parse({ ...audit, share: 0.25 }))
    expect(() => assertOfCanary(kept, patch, other)).toThrow('decided with another audit')
  })

  it('not while what serves is pinned, and not when it has ended', async () => {
    const canary = await start()
    const receipt = canaryReceiptOf(canary, served)
    await registry.pin(agent, 'the fair')
    await expect(registry.promoteCanary(receipt)).rejects.toThrow(PinnedError)
    expect(await registry.runningCanary(agent)).toEqual(canary)
    await registry.unpin(agent)
    await registry.rollBackCanary(canary.id, { reasons: ['enough'] })
    await expect(registry.promoteCanary(receipt)).rejects.toThrow(CanaryEndedError)
    expect((await registry.current(agent)).release.id).toBe(initial)
  })

  it('or goes back, and never both, whoever is quicker', async () => {
    for (let i = 0; i < 5; i++) {
      const canary = await start({ versions: [prompt(`better ${i}`)], at: i })
      const { versions } = (await registry.current(agent)).release
      const promoted = registry.promoteCanary(canaryReceiptOf(canary, versions)).then(() => 'promoted')
      const back = registry.rollBackCanary(canary.id, { reasons: ['by hand'] }).then(() => 'rolled-back')
      const outcomes = await Promise.allSettled(i % 2 === 0 ? [promoted, back] : [back, promoted])
      const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
      expect(won).toEqual([(await store.canaries.get(canary.id))?.status])
    }
  })
})

describe('a canary goes back', () => {
  it('by evidence, and people are told how many sessions had it', async () => {
    const canary = await start()
    const receipt = canaryReceiptOf(canary, served, { earned: { baseline: 1, candidate: 0 } })
    const { reasons, evidence } = receipt
    const ended = await registry.rollBackCanary(canary.id, { receipt, reasons, evidence, exposed: 103, at: 50 })
    expect(ended).toMatchObject({ status: 'rolled-back', receipt: receipt.id, reason: reasons[0], endedAt: 50 })
    expect(await typesOf(canary)).toEqual([
      ['started', 0.5],
      ['rolled-back', 0],
    ])
    expect((await store.canaries.events(canary.id))[1]?.evidence).toMatchObject({ exposed: 103 })
    expect(await alerts()).toMatchObject([
      {
        kind: 'rollback',
        name: canary.id,
        message: `The canary ${canary.id} was rolled back after 103 sessions had it: ${reasons[0]}`,
        evidence: { exposed: 103, candidate: setOf(better) },
        run: null,
        at: 50,
      },
    ])
    expect(await registry.runningCanary(agent)).toBeNull()
    expect((await start({ versions: [prompt('next')], at: 60 })).status).toBe('running')
  })

  it('by hand, pinned or not', async () => {
    const canary = await start()
    await registry.pin(agent, 'the fair')
    const ended = await registry.rollBackCanary(canary.id, { reasons: ['I do not like it'] })
    expect(ended).toMatchObject({ status: 'rolled-back', receipt: null, reason: 'I do not like it' })
    expect((await alerts())[0]?.message).toBe(`The canary ${canary.id} was rolled back: I do not like it`)
    await expect(registry.rollBackCanary(canary.id, { reasons: ['again'] })).rejects.toThrow(CanaryEndedError)
    await expect(registry.rollBackCanary(CanaryId.parse('none'), { reasons: [''] })).rejects.toThrow(UnknownCanaryError)
  })

  it('not by a receipt that was changed, or of another canary', async () => {
    const canary = await start()
    const receipt = canaryReceiptOf(canary, served, { earned: { baseline: 1, candidate: 0 } })
    const reasons = ['worse']
    await expect(registry.rollBackCanary(canary.id, { receipt: { ...receipt, agent: 'x' }, reasons })).rejects.toThrow(
      ReceiptError,
    )
    const other = canaryReceiptOf(canary, served, { of: CanaryId.parse('other') })
    await expect(registry.rollBackCanary(canary.id, { receipt: other, reasons })).rejects.toThrow(OtherCanaryError)
    expect(await registry.runningCanary(agent)).toEqual(canary)
  })

  it('is given up without an alert', async () => {
    const canary = await start()
    await registry.endCanary(canary.id, { reasons: ['nothing was shown'], exposed: 9 })
    expect(await typesOf(canary)).toEqual([
      ['started', 0.5],
      ['ended', 0],
    ])
    expect(await alerts()).toEqual([])
  })

  it('when its baseline serves no more: by a rollback, by turning all off, by another promotion', async () => {
    const first = await start()
    await registry.promoteCanary(canaryReceiptOf(first, served))
    const ways = [
      () => registry.rollback(agent),
      () => registry.off(agent),
      () => {
        const other = setOf(model, prompt('other'))
        return registry.promote({ receipt: admissionOf(served, other), versions: [prompt('other')], run: null })
      },
    ]
    for (const [i, change] of ways.entries()) {
      const canary = await start({ versions: [prompt(`next ${i}`)], at: 100 + i })
      const release = await change()
      expect(await store.canaries.get(canary.id)).toMatchObject({
        status: 'rolled-back',
        reason: expect.stringContaining(`release ${release.id} `),
      })
      expect(await registry.runningCanary(agent)).toBeNull()
    }
  })
})

describe('a pin', () => {
  it('holds what serves against every gate, and never against a rollback', async () => {
    const canary = await start()
    const { release } = await registry.promoteCanary(canaryReceiptOf(canary, served))
    expect(await registry.pin(agent, 'the fair', { at: 70, release: release.id })).toEqual({
      agent,
      release: release.id,
      reason: 'the fair',
      at: 70,
    })
    await expect(registry.pin(agent, '', { release: initial })).rejects.toThrow(`${release.id} serves`)
    const other = setOf(model, prompt('other'))
    const receipt = admissionOf(tried, other)
    await expect(registry.promote({ receipt, versions: [prompt('other')], run: null })).rejects.toThrow(PinnedError)
    expect((await registry.current(agent)).release.id).toBe(release.id)
    expect(await store.versions.get(prompt('other').id)).toBeNull()
    await registry.rollback(agent)
    expect((await registry.current(agent)).release.id).toBe(initial)
    expect(await registry.unpin(agent)).toMatchObject({ reason: 'the fair' })
    expect(await registry.unpin(agent)).toBeNull()
    await expect(registry.pin('nobody', '')).rejects.toThrow(UnknownAgentError)
  })
})

it('tells when a release went back', async () => {
  const canary = await start()
  const { release } = await registry.promoteCanary(canaryReceiptOf(canary, served))
  await registry.rollback(agent, undefined, 80)
  expect(await alerts()).toMatchObject([
    {
      kind: 'rollback',
      name: release.id,
      message: `The release ${release.id} was rolled back: ${initial} serves again.`,
    },
  ])
  await registry.rollback(agent, release.id, 90)
  await registry.rollback(agent, undefined, 100)
  expect(await alerts()).toHaveLength(3)
})
