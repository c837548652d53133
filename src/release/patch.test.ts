import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Canary, CanaryArm, ReleaseId, Store, Version } from '../core/index.ts'
import { mintVersion, TrajectoryId } from '../core/index.ts'
import { replay } from '../gate/index.ts'
import { guardMetrics, rubric, signal } from '../reward/index.ts'
import { openMemoryStore, openStore } from '../store/index.ts'
import {
  admissionOf,
  agent,
  base,
  canaryReceiptOf,
  model,
  prompt,
  quickGate,
  sessionCall,
  promoteBeside,
  setOf,
  thumb,
} from '../../test/support/canary-parts.ts'
import { type NewCanary, openReleaseRouter, Registry, StaleReceiptError, versionsByHand, watchCanary } from './index.ts'
import { patchOf, staleIn } from './patch.ts'

const weights = (adapter: string): Version =>
  mintVersion(
    'model',
    { kind: 'weights', base: 'tiny', baseHash: 'tiny-content', adapter: adapter.repeat(64).slice(0, 64) as never },
    { parents: [], run: null },
  )
const [kinder, faster] = [prompt('Answer kindly.'), weights('a')]
const judgeAfterMs = 1_000
const thumbs = rubric({ thumbs: signal('thumbs') })
const caps = { perTrajectory: 99, perTrajectoryOfKey: 99, perDay: 99_999 }

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
  registry.startCanary({ agent, versions: [kinder], admission: null, run: null, gate: quickGate, at: 10, ...options })

/** Lets a version serve everybody that a gate on held-out tasks promotes. */
const promote = (version: Version, at = 20, from = registry) => promoteBeside(from, version, at)

const storyOf = async ({ id }: Canary) => (await store.canaries.events(id)).map(({ type }) => type)

const look = (canary: Canary, now: number, of: { store: Store; registry: Registry } = { store, registry }) =>
  watchCanary({
    ...of,
    canary: canary.id,
    rubric: thumbs,
    guardMetrics,
    judgeAfterMs,
    tenant: 'default',
    clock: { now: () => now },
  })

/** A session of an arm, and what it earned. */
async function visit(of: Store, canary: Canary, id: string, arm: CanaryArm, earned: number, at: number) {
  const servedBy = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } }
  await of.traffic.append(sessionCall(id, servedBy, { at }))
  await of.signals.append([{ ...thumb(id, earned, at + 1), key: id }], { caps, now: at + 1 })
}

const armAt = (i: number): CanaryArm => (i % 2 === 0 ? 'candidate' : 'baseline')

describe('another Parameter comes to serve otherwise while a canary runs', () => {
  it('both arms get it at once, and the canary goes on', async () => {
    const canary = await start()
    expect(canary.candidate).toEqual(setOf(kinder))
    const router = await openReleaseRouter({ store, agents: null })
    onTestFinished(() => router.close())
    const arms = () =>
      Object.fromEntries(
        (['candidate', 'baseline'] as const).map((arm) => {
          const known = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } }
          const assigned = router.assign(agent, TrajectoryId.parse('t'), known)
          return [arm, { ...setOf(...(assigned?.versions.values() ?? [])), generation: assigned?.generation }]
        }),
      )
    await store.canaries.watch(canary.id, Number.MAX_SAFE_INTEGER)
    await router.refresh()
    expect(arms()).toEqual({
      candidate: { ...setOf(model, kinder), generation: 2 },
      baseline: { ...setOf(model, base), generation: 1 },
    })
    await promote(faster)
    await router.refresh()
    expect(arms()).toEqual({
      candidate: { ...setOf(faster, kinder), generation: 3 },
      baseline: { ...setOf(faster, base), generation: 2 },
    })
    expect(await registry.runningCanary(agent)).toEqual(canary)
    await registry.rollback(agent)
    await router.refresh()
    expect(arms()).toMatchObject({ candidate: { ...setOf(kinder) }, baseline: { ...setOf(base) } })
  })

  it('its receipt says what changed and when, and its release has all that serves', async () => {
    const canary = await start()
    const visits = async (from: number, to: number) => {
      for (let i = from; i < to; i++) {
        const arm = armAt(i)
        await visit(store, canary, `s-${i}`, arm, arm === 'candidate' ? 1 : 0, 20 + i)
      }
    }
    await visits(0, 30)
    const changed = await promote(faster, 50)
    await visits(30, 60)
    const { release, canary: ended } = await look(canary, 2_000)
    expect(ended.status).toBe('promoted')
    expect(release?.versions).toEqual(setOf(faster, kinder))
    const receipt = await store.receipts.get(release!.receipt!)
    expect(receipt).toMatchObject({
      baseline: setOf(faster, base),
      candidate: setOf(faster, kinder),
      changes: [
        { at: 50, release: changed.id, generation: 2, parameters: { model: { from: model.id, to: faster.id } } },
      ],
    })
    expect(replay(receipt!)).toBe('promote')
    expect(await storyOf(canary)).toEqual(['started', 'changed', 'promoted'])
    expect((await registry.promoteCanary(receipt as never)).release).toEqual(release)
    // Back step by step: what the canary brought, and then what came beside it.
    expect((await registry.rollback(agent)).versions).toEqual(setOf(faster, base))
    expect((await registry.rollback(agent)).id).toBe(initial)
  })

  it('a receipt of before the change promotes nothing: it does not say what serves', async () => {
    const canary = await start()
    const receipt = canaryReceiptOf(canary, setOf(model, base))
    await promote(faster)
    await expect(registry.promoteCanary(receipt)).rejects.toThrow(StaleReceiptError)
    expect(await registry.runningCanary(agent)).toEqual(canary)
    await registry.promoteCanary(canaryReceiptOf(canary, setOf(faster, base)))
    expect((await registry.current(agent)).release.versions).toEqual(setOf(faster, kinder))
  })

  it('one that a held-out gate admitted before it begins, too', async () => {
    const admission = admissionOf(setOf(model, base), setOf(model, kinder))
    await promote(faster)
    expect((await start({ admission })).candidate).toEqual(setOf(kinder))
  })

  it('the run that began it finds it again', async () => {
    const run = 'run-1' as never
    await store.runs.create({
      id: run,
      agent,
      config: {},
      seed: 1,
      status: 'running',
      versionsIn: setOf(model, base),
      versionsOut: null,
      receipt: null,
      release: null,
      failure: null,
      startedAt: 1,
      endedAt: null,
    })
    const canary = await start({ run })
    await promote(faster)
    expect(await start({ run, at: 99 })).toEqual(canary)
    await expect(start({ run, versions: [prompt('other')] })).rejects.toThrow('it tries system')
    await expect(start({ versions: [faster, weights('b')] })).rejects.toThrow('one at a time, whatever Parameters')
  })

  it('what it tried is its patch, for whoever tries it again', async () => {
    const canary = await start()
    await promote(faster)
    await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
    const again = await versionsByHand(store, agent, { from: canary.id })
    expect(setOf(...again)).toEqual(setOf(kinder))
  })
})

describe('a canary ends', () => {
  it('where what it tries came to serve otherwise', async () => {
    const canary = await start()
    const { id } = await promote(prompt('Answer at once.'))
    expect(await store.canaries.get(canary.id)).toMatchObject({
      status: 'rolled-back',
      reason: `release ${id} serves with another version of system, which it tries`,
    })
  })

  it('where nothing learned is to serve, or what serves is to serve everybody', async () => {
    await promote(faster)
    const ways = [
      () => registry.goBack(agent, undefined, 40),
      async () => registry.goBack(agent, (await registry.current(agent)).release.id, 40),
      () => registry.off(agent, 40),
    ]
    for (const [i, way] of ways.entries()) {
      const canary = await start({ at: 30 + i })
      await way()
      expect(await store.canaries.get(canary.id)).toMatchObject({ status: 'rolled-back' })
    }
    expect((await registry.current(agent)).release.id).toBe(initial)
  })

  it('by hand, at any time after a change beside it', async () => {
    const canary = await start()
    const learned = await promote(faster)
    await promote(weights('b'), 30)
    const named = await registry.goBack(agent, learned.id, 35)
    expect(named).toMatchObject({ release: { id: learned.id }, canary: { id: canary.id, status: 'running' } })
    const back = await registry.goBack(agent, undefined, 40)
    expect(back).toMatchObject({ release: { id: learned.id }, canary: { id: canary.id, status: 'rolled-back' } })
  })
})

it('a patch is what its set does not share with what served', () => {
  const version = fc.constantFrom('a', 'b', 'c')
  const set = fc.dictionary(fc.constantFrom('model', 'system', 'tool'), version)
  fc.assert(
    fc.property(set, set, set, (candidate, served, now) => {
      const patch = patchOf(candidate as never, served as never)
      expect({ ...served, ...patch }).toEqual({ ...served, ...candidate })
      expect(patchOf(patch, served as never)).toEqual(patch)
      expect(staleIn(patch, served as never, served as never)).toEqual([])
      for (const parameter of staleIn(patch, served as never, now as never)) {
        expect(patch).toHaveProperty(parameter)
        expect(now[parameter]).not.toBe(served[parameter])
      }
    }),
  )
})

it('a verdict is the same whatever else came to serve meanwhile, and whenever', async () => {
  const looksOf = async (earned: readonly number[], changes: ReadonlySet<number>) => {
    const own = await openMemoryStore()
    try {
      const of = { store: own, registry: new Registry(own) }
      await of.registry.initial(agent, [model, base], 1)
      const rules = { agent, versions: [kinder], admission: null, run: null, gate: quickGate, salt: 's', at: 10 }
      const canary = await of.registry.startCanary(rules)
      const verdicts: unknown[] = []
      for (const [i, one] of earned.entries()) {
        if (changes.has(i)) await promote(weights(i.toString(16).padStart(2, '0')), 20 + i, of.registry)
        await visit(own, canary, `s-${i}`, armAt(i >> 1), one, 20 + i)
        if (i % 10 === 9) verdicts.push((await look(canary, 20 + i + judgeAfterMs, of)).verdict)
      }
      return { verdicts, status: (await own.canaries.get(canary.id))?.status }
    } finally {
      await own.close()
    }
  }
  // Both arms earn by turns the same: an A/A canary.
  const earned = fc.array(fc.constantFrom(0, 1), { minLength: 10, maxLength: 20 })
  const changes = fc.uniqueArray(fc.nat(39), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(earned, changes, async (some, when) => {
      const both = some.flatMap((one) => [one, one])
      expect(await looksOf(both, new Set(when))).toEqual(await looksOf(both, new Set()))
    }),
    { numRuns: 4 },
  )
})

describe('a store of before there were patches', () => {
  it('opens; its canary goes on, beside what changes, and becomes a release; its receipts replay and roll back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ratchet-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'ratchet.db')
    copyFileSync(new URL('../../test/fixtures/canary-of-whole-sets.db', import.meta.url), path)
    const old = await openStore({ path })
    onTestFinished(() => old.close())
    const of = { store: old, registry: new Registry(old) }
    const [canary, promoted] = await old.canaries.list({ agent, limit: 10 })
    const tried = prompt('Answer kindly, in one sentence.')
    expect(canary).toMatchObject({ status: 'running', candidate: setOf(model, tried) })
    expect(replay((await old.receipts.get(promoted!.receipt!))!)).toBe('promote')

    const { id } = await promote(faster, 2_200, of.registry)
    expect(await of.registry.runningCanary(agent)).toEqual(canary)
    for (let i = 100; i < 160; i++) await visit(old, canary!, `t_${i}`, armAt(i), i % 2 === 0 ? 1 : 0, 2_300 + i)
    const { release } = await look(canary!, 5_000, of)
    expect(release?.versions).toEqual(setOf(faster, tried))
    const receipt = await old.receipts.get(release!.receipt!)
    expect(receipt).toMatchObject({ changes: [{ release: id }] })
    expect(replay(receipt!)).toBe('promote')
    expect((await of.registry.rollback(agent)).versions).toEqual(setOf(faster, prompt('Answer kindly.')))
    expect((await of.registry.off(agent)).versions).toEqual(setOf(model, base))
  })
})
