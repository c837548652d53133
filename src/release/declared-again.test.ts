import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { mintVersion, type Store, type Version } from '../core/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { agent, base, model, promoteBeside, prompt, setOf } from '../../test/support/canary-parts.ts'
import { Registry } from './index.ts'

const tool = mintVersion('tool-search', { kind: 'text', text: 'Searches.' }, { parents: [], run: null })
const [edited, better] = [prompt('Answer in one word.'), prompt('Answer kindly.')]

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
const alerts = () => store.alerts.list({ agent, limit: 10 })

const learn = (version: Version) => promoteBeside(registry, version, 20)

describe('code that goes back', () => {
  it('finds the Parameter that newer code does not declare, and is told of the text that does', async () => {
    const first = await declare(model, base, tool)
    await declare(model, edited)
    expect(await declare(model, base, tool)).toEqual(first)
    expect(await serving()).toEqual(setOf(model, edited, tool))
    expect(await alerts()).toMatchObject([
      {
        kind: 'declared',
        name: 'system',
        message: expect.stringContaining(`\`ratchet rollback ${first.id}\``),
        evidence: { declared: base.id, serves: edited.id },
      },
    ])
    await registry.rollback(agent, first.id)
    expect(await serving()).toEqual(setOf(model, base, tool))
  })

  it('is told once, and again after the owner changed what serves', async () => {
    const told = async () => (await alerts()).filter(({ kind }) => kind === 'declared').length
    const newer = await declare(model, edited)
    for (let i = 0; i < 3; i++) await registry.initial(agent, [model, base], 50 + i)
    expect(await told()).toBe(1)
    const faster = mintVersion('tool-own', { kind: 'text', text: 'Does.' }, { parents: [], run: null })
    await learn(faster)
    await declare(model, base)
    expect(await told(), 'a promotion of another Parameter is no news of it').toBe(1)
    await registry.rollback(agent, newer.id)
    await declare(model, base)
    expect(await told()).toBe(2)
  })

  it('is told nothing where something learned serves', async () => {
    await learn(better)
    await declare(model, edited)
    await declare(model, base)
    expect(await alerts()).toMatchObject([{ evidence: { declared: edited.id } }])
  })

  it('adds what a release lacks that people went back to, beside what serves', async () => {
    const learned = await learn(better)
    await declare(model, base, tool)
    await registry.rollback(agent, learned.id)
    await declare(model, base, tool)
    expect((await registry.current(agent)).release).toMatchObject({
      versions: setOf(model, better, tool),
      receipt: learned.receipt,
    })
  })

  it('has the newest declaration at off, whatever was joined since', async () => {
    const [first] = await registry.list(agent)
    const newest = await declare(model, edited, tool)
    await registry.rollback(agent, first?.id)
    await declare(model, edited, tool)
    expect(await serving()).toEqual(setOf(model, base, tool))
    expect((await registry.current(agent)).release.receipt).toBeNull()
    expect(await registry.off(agent)).toEqual(newest)
  })

  it('gets back what a store of before lost: a Parameter that newer code did not declare', async () => {
    const both = await declare(model, base, tool)
    const without = await declare(model, edited)
    await registry.rollback(agent, without.id)
    expect(await serving(), 'as releases of before were').toEqual(setOf(model, edited))
    await declare(model, base, tool)
    expect(await serving()).toEqual(setOf(model, edited, tool))
    expect(await registry.list(agent)).toContainEqual(both)
  })
})
