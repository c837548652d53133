import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mintVersion, type Store, type Version } from '../core/index.ts'
import { openMemoryStore } from '../store/index.ts'
import {
  admissionOf,
  agent,
  base,
  canaryReceiptOf,
  model,
  prompt,
  quickGate,
  promoteBeside,
  setOf,
} from '../../test/support/canary-parts.ts'
import { InitialChangedError, Registry } from './index.ts'

const tool = mintVersion('tool-search', { kind: 'text', text: 'Searches.' }, { parents: [], run: null })
const [edited, better] = [prompt('Answer in one word.'), prompt('Answer kindly.')]
const otherModel = mintVersion(
  'model',
  { kind: 'weights', base: 'other', baseHash: 'other-content', adapter: null },
  { parents: [], run: null },
)

let store: Store
let registry: Registry
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
})
afterEach(() => store.close())

const declare = (...versions: readonly Version[]) => registry.initial(agent, versions, 50)
const serving = async () => (await registry.current(agent)).release.versions
const reasons = async () => (await store.releases.activations(agent)).map(({ reason }) => reason)
const alerts = () => store.alerts.list({ agent, limit: 10 })

const learn = (version: Version) => promoteBeside(registry, version, 20)

describe('an agent that is declared otherwise', () => {
  it('gains a Parameter, also beside what was learned', async () => {
    const learned = await learn(better)
    const declared = await declare(model, base, tool)
    expect(declared).toMatchObject({ versions: setOf(model, base, tool), receipt: null })
    expect(await registry.current(agent)).toMatchObject({
      release: { versions: setOf(model, better, tool), receipt: learned.receipt },
      activation: { reason: 'declared', generation: 3, at: 50 },
    })
    expect(await store.versions.get(tool.id)).toEqual(tool)
    expect(await alerts()).toEqual([])
    expect((await registry.rollback(agent)).id).toBe(learned.id)
  })

  it('has an edited text serve in the place of the one that was declared before', async () => {
    const declared = await declare(model, edited)
    expect(await registry.current(agent)).toMatchObject({
      release: { id: declared.id, versions: setOf(model, edited), receipt: null },
      activation: { reason: 'declared', generation: 2 },
    })
    await learn(better)
    expect((await registry.off(agent)).versions, 'off is the agent as it is declared now').toEqual(setOf(model, edited))
  })

  it('is told that a learned text serves, which stays', async () => {
    const learned = await learn(better)
    const declared = await declare(model, edited)
    expect((await registry.current(agent)).release).toEqual(learned)
    expect(await reasons()).toEqual(['initial', 'promote'])
    expect(await alerts()).toMatchObject([
      {
        kind: 'declared',
        name: 'system',
        message: expect.stringContaining('a learned one serves: that one stays'),
        evidence: { declared: edited.id, serves: better.id, release: learned.id },
      },
    ])
    await declare(model, edited)
    expect(await alerts()).toHaveLength(1)
    await registry.rollback(agent, declared.id)
    expect(await serving()).toEqual(setOf(model, edited))
  })

  it('keeps a Parameter that is declared no more, also one that only people added', async () => {
    await declare(model, base, tool)
    const own = mintVersion('tool-own', { kind: 'text', text: 'Does.' }, { parents: [], run: null })
    await learn(own)
    await declare(model, edited)
    expect(await serving(), 'programs that still run declare it').toEqual(setOf(model, edited, tool, own))
    expect((await registry.off(agent)).versions).toEqual(setOf(model, edited, tool))
  })

  it('keeps what was learned of a Parameter that is declared no more', async () => {
    await declare(model, base, tool)
    const finds = mintVersion('tool-search', { kind: 'text', text: 'Finds.' }, { parents: [tool.id], run: null })
    const learned = await learn(finds)
    await declare(model, base)
    expect((await registry.current(agent)).release).toEqual(learned)
    await declare(model, edited)
    expect((await registry.current(agent)).release).toMatchObject({
      versions: setOf(model, edited, finds),
      receipt: learned.receipt,
    })
  })

  it('keeps its weights: on another base, what was learned is nothing', async () => {
    await expect(declare(otherModel, base)).rejects.toThrow(InitialChangedError)
    await expect(declare(otherModel, edited, tool)).rejects.toThrow('other initial values of: model')
    expect(await reasons()).toEqual(['initial'])
    expect(await registry.list(agent)).toHaveLength(1)
  })

  it('changes what serves while a pin holds off gates', async () => {
    await registry.pin(agent, 'the fair')
    await declare(model, edited)
    expect(await serving()).toEqual(setOf(model, edited))
  })

  it('keeps what was declared since, where labels take a promotion back', async () => {
    const canary = await registry.startCanary({
      agent,
      versions: [better],
      admission: null,
      run: null,
      gate: quickGate,
      at: 10,
    })
    await registry.promoteCanary(canaryReceiptOf(canary, setOf(model, base)), 20)
    await declare(model, base, tool)
    const shown = canaryReceiptOf(canary, setOf(model, base), { earned: { baseline: 1, candidate: 0 } })
    const back = await registry.takeBack(shown, ['worse'], 60)
    expect(back).toMatchObject({ versions: setOf(model, base, tool), receipt: null })
    expect((await registry.current(agent)).activation).toMatchObject({ release: back.id, reason: 'rollback' })
  })

  it('ends a canary of the text that was edited, and none of another Parameter', async () => {
    const start = (version: Version) =>
      registry.startCanary({ agent, versions: [version], admission: null, run: null, gate: quickGate, at: 10 })
    const first = await start(better)
    await declare(model, base, tool)
    expect(await store.canaries.get(first.id)).toMatchObject({ status: 'running' })
    expect((await store.canaries.events(first.id)).at(-1)).toMatchObject({
      type: 'changed',
      evidence: { parameters: { 'tool-search': { from: null, to: tool.id } } },
    })
    await declare(model, edited, tool)
    expect(await store.canaries.get(first.id)).toMatchObject({ status: 'rolled-back' })
  })
})

describe('what was declared before', () => {
  it('changes nothing: restarts, and processes of older code, beside newer ones', async () => {
    const declarations = [[model, base], [model, edited, tool], [model, base, tool], [model]] as const
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(declarations.length - 1), { maxLength: 12 }), async (starts) => {
        const own = await openMemoryStore()
        const fresh = new Registry(own)
        const seen = new Set<number>()
        for (const [at, i] of starts.entries()) {
          const before = (await own.releases.activations(agent)).length
          await fresh.initial(agent, declarations[i] ?? [], at)
          const after = (await own.releases.activations(agent)).length
          if (seen.has(i)) expect(after).toBe(before)
          else expect((await fresh.current(agent)).release.versions).toMatchObject(setOf(...(declarations[i] ?? [])))
          seen.add(i)
          const serves = (await fresh.current(agent)).release.versions
          for (const known of seen) {
            for (const { parameter } of declarations[known] ?? []) expect(serves).toHaveProperty([parameter])
          }
        }
        await own.close()
      }),
      { numRuns: 20 },
    )
  })

  it('does not undo a rollback', async () => {
    const [first] = await registry.list(agent)
    await declare(model, edited)
    await registry.rollback(agent, first?.id)
    await declare(model, edited)
    expect(await serving()).toEqual(setOf(model, base))
  })

  it('declared by several at once is declared once', async () => {
    await Promise.all(['a', 'b', 'c'].map((_, i) => registry.initial(agent, [model, edited], i)))
    expect(await reasons()).toEqual(['initial', 'declared'])
  })

  it('keeps a promotion that is asked for again what it was', async () => {
    const candidate = setOf(model, better)
    const receipt = admissionOf(setOf(model, base), candidate)
    const promotion = { receipt, versions: [better], run: null }
    const release = await registry.promote(promotion)
    await declare(model, base, tool)
    expect(await registry.promote(promotion)).toEqual(release)
    expect(await serving()).toEqual(setOf(model, better, tool))
  })
})
