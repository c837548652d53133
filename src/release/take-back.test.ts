import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  agent,
  base,
  canaryReceiptOf,
  model,
  prompt,
  promoteBeside,
  quickGate,
  setOf,
} from '../../test/support/canary-parts.ts'
import { type Canary, type CanaryReceipt, mintVersion, type Store, type Version } from '../core/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { NothingToRollBackToError, OtherCanaryError, Registry } from './index.ts'

const tool = (text: string): Version => mintVersion('tool-search', { kind: 'text', text }, { parents: [], run: null })
const search = tool('Searches.')

let store: Store
let registry: Registry
let at: number
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  at = 10
  await registry.initial(agent, [model, base, search], 1)
})
afterEach(() => store.close())

const versions = async () => (await registry.current(agent)).release.versions

/** A canary that was promoted, and the receipt of it that takes it back. */
interface Promoted {
  readonly canary: Canary
  readonly against: CanaryReceipt
}

async function promoted(...tried: readonly Version[]): Promise<Promoted> {
  const served = await versions()
  const gate = quickGate
  const canary = await registry.startCanary({ agent, versions: tried, admission: null, run: null, gate, at: ++at })
  await registry.promoteCanary(canaryReceiptOf(canary, served), ++at)
  return { canary, against: canaryReceiptOf(canary, served, { earned: { baseline: 1, candidate: 0 } }) }
}
const takeBack = ({ against }: Promoted) => registry.takeBack(against, ['worse'], ++at)

describe('what a canary brought, taken back', () => {
  it('is what still serves of it: a Parameter that another gate changed since keeps what it has', async () => {
    const both = await promoted(prompt('Answer kindly.'), tool('Finds.'))
    await promoteBeside(registry, tool('Finds at once.'), ++at)
    await takeBack(both)
    expect(await versions()).toEqual(setOf(model, base, tool('Finds at once.')))
    await expect(takeBack(both)).rejects.toThrow(OtherCanaryError)
  })

  it('is no declaration: what was learned beside it goes when all is turned off, and a restart changes nothing', async () => {
    const first = await promoted(prompt('Answer kindly.'))
    const second = await promoted(tool('Finds.'))
    const back = await takeBack(first)
    expect(back).toMatchObject({ versions: setOf(model, base, tool('Finds.')) })
    expect(back.receipt).toBe((await store.canaries.get(second.canary.id))?.receipt)
    await registry.initial(agent, [model, base, search], ++at)
    expect(await versions()).toEqual(back.versions)
    expect(await store.alerts.list({ agent, kind: 'declared', limit: 9 })).toEqual([])
    expect((await registry.off(agent)).versions).toEqual(setOf(model, base, search))
  })

  it('never comes back by steps back: each takes out the latest promotion that is left', async () => {
    const first = await promoted(prompt('Answer kindly.'))
    await promoted(tool('Finds.'))
    await promoted(tool('Finds at once.'))
    await takeBack(first)
    expect((await registry.rollback(agent, undefined, ++at)).versions).toEqual(setOf(model, base, tool('Finds.')))
    expect((await registry.rollback(agent, undefined, ++at)).versions).toEqual(setOf(model, base, search))
    await expect(registry.rollback(agent, undefined, ++at)).rejects.toThrow(NothingToRollBackToError)
  })

  it('leaves a canary that tries another Parameter, and ends one that tries the same', async () => {
    const first = await promoted(prompt('Answer kindly.'))
    const start = (version: Version) =>
      registry.startCanary({ agent, versions: [version], admission: null, run: null, gate: quickGate, at: ++at })
    const beside = await start(tool('Finds.'))
    await takeBack(first)
    expect(await store.canaries.get(beside.id)).toMatchObject({ status: 'running' })
    await registry.rollBackCanary(beside.id, { reasons: ['by hand'] })
    const again = await promoted(prompt('Answer kindly, please.'))
    const same = await start(prompt('Answer more kindly.'))
    await takeBack(again)
    expect(await store.canaries.get(same.id)).toMatchObject({ status: 'rolled-back' })
  })

  it('is what a stack of promotions for each Parameter would say, whatever the order', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('promote'), which: fc.constantFrom('system', 'tool-search', 'both') }),
      fc.record({ do: fc.constant('take back'), which: fc.nat(5) }),
      fc.record({ do: fc.constant('step back'), which: fc.constant(0) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
        await store.close()
        store = await openMemoryStore()
        registry = new Registry(store)
        await registry.initial(agent, [model, base, search], 1)
        const stacks: Record<string, { readonly id: string; readonly by: number }[]> = {
          system: [{ id: base.id, by: -1 }],
          'tool-search': [{ id: search.id, by: -1 }],
        }
        const all: Promoted[] = []
        const pop = (by: number) => {
          const own = Object.values(stacks).filter((stack) => stack.at(-1)?.by === by)
          for (const stack of own) stack.pop()
          return own.length > 0
        }
        for (const { do: what, which } of steps) {
          if (what === 'promote') {
            const by = all.length
            const tried = [prompt(`prompt ${by}`), tool(`tool ${by}`)].filter(
              ({ parameter }) => which === 'both' || which === parameter,
            )
            all.push(await promoted(...tried))
            for (const { parameter, id } of tried) stacks[parameter]?.push({ id, by })
          } else if (what === 'take back') {
            const one = all[Number(which)]
            if (!one) continue
            if (pop(Number(which))) await takeBack(one)
            else await expect(takeBack(one)).rejects.toThrow(OtherCanaryError)
          } else {
            const latest = Math.max(...Object.values(stacks).map((stack) => stack.at(-1)?.by ?? -1))
            if (latest >= 0 && pop(latest)) await registry.rollback(agent, undefined, ++at)
            else await expect(registry.rollback(agent, undefined, ++at)).rejects.toThrow(NothingToRollBackToError)
          }
          const tops = Object.fromEntries(Object.entries(stacks).map(([name, stack]) => [name, stack.at(-1)?.id]))
          expect(await versions()).toEqual({ ...setOf(model), ...tops })
        }
        expect((await registry.off(agent, ++at)).versions).toEqual(setOf(model, base, search))
      }),
      { numRuns: 15 },
    )
  }, 120_000)
})
