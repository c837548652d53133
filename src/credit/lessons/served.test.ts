import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { initialVersion, servedReader } from '../../../test/support/learner-traffic.ts'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import { mintVersion, ReleaseId, type Store, type Version, VersionId } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { lagOf, lagsOf } from './served.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const { name } = servedReader
const next = (adapter: string) =>
  mintVersion('model', { ...initialVersion.value, adapter: adapter.repeat(64) } as Version['value'], {
    parents: [],
    run: null,
  })
const [first, second, third] = [initialVersion, next('a'), next('b')] as const

/** What served, one activation after the other. */
async function served(...versions: readonly Version[]) {
  for (const [i, { id, ...version }] of versions.entries()) {
    const release = ReleaseId.parse(`release-${id.slice(0, 8)}`)
    await store.versions.put({ id, ...version })
    const origin = { receipt: null, run: null }
    await store.releases.put({ id: release, agent: name, versions: { model: id }, createdAt: 0, ...origin })
    const reason = i === 0 ? 'initial' : 'promote'
    await store.releases.activate({ agent: name, release, reason, generation: i + 1, at: i })
  }
  return lagsOf(store, name, 'model', 1)
}

const madeBy = (...versions: readonly Pick<Version, 'id'>[]) =>
  trajectoryOf({ decisions: versions.map(({ id }) => ({ version: id })) })

describe('how long ago weights served', () => {
  it('counts activations, from the last time that they did, and reads no more of them than are asked for', async () => {
    const get = vi.spyOn(store.releases, 'get')
    expect(await served(first, second, third)).toEqual(
      new Map([
        [second.id, 1],
        [third.id, 0],
      ]),
    )
    expect(get).toHaveBeenCalledTimes(2)
  })

  it('what serves again after a rollback is fresh', async () => {
    const lags = await served(first, second, first)
    expect(lagOf(madeBy(first), 'model', lags, 0)).toBe(0)
    expect(lagOf(madeBy(second), 'model', lags, 0)).toBe('stale')
    expect(lagOf(madeBy(second), 'model', lags, 1)).toBe(1)
  })

  it('of a session that two releases answered, the older counts', async () => {
    const lags = await served(first, second)
    expect(lagOf(madeBy(second, first), 'model', lags, 1)).toBe(1)
    expect(lagOf(madeBy(second, first), 'model', lags, 0)).toBe('stale')
  })

  it('what never served is nobody’s, and another Parameter’s says nothing', async () => {
    const lags = await served(first)
    expect(lagOf(madeBy({ id: VersionId.parse('unknown') }), 'model', lags, 16)).toBe('stale')
    expect(lagOf(madeBy(first), 'other', lags, 16)).toBe('not-served')
    expect(await lagsOf(store, 'nobody', 'model', 16)).toEqual(new Map())
  })
})
