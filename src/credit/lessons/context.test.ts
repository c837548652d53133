import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { trajectoryOf } from '../../../test/support/trajectories.ts'
import {
  actedIn,
  defaultTenant,
  mintVersion,
  ReleaseId,
  type Store,
  type Trajectory,
  type Version,
} from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { type IsInContext, todaysContext } from './context.ts'

const mint = (parameter: string, text: string, parents: readonly Version[] = []) =>
  mintVersion(parameter, { kind: 'text', text }, { parents: parents.map(({ id }) => id), run: null })
const declared = mint('system', 'Answer.')
const learned = mint('system', 'Answer kindly.', [declared])
const better = mint('system', 'Answer at once.', [learned])
const [tool, shorter] = [mint('tool-search', 'Searches.'), mint('tool-search', 'Looks up.', [declared])]
const model = mint('model', 'stands for weights')

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Releases of these versions, one after the other: the last one serves. */
async function served(...releases: readonly (readonly Version[])[]): Promise<IsInContext> {
  for (const [i, versions] of releases.entries()) {
    for (const version of versions) await store.versions.put(version)
    const set = Object.fromEntries(versions.map(({ parameter, id }) => [parameter, id]))
    const release = ReleaseId.parse(`r${i + 1}`)
    const origin = { receipt: null, run: null }
    await store.releases.put({ id: release, agent: 'support', versions: set, createdAt: i, ...origin })
    await store.releases.activate({ agent: 'support', release, reason: 'promote', generation: i + 1, at: i })
  }
  return todaysContext(store, 'support', 'model')
}

/** A session that began under a release, and what acted in it. */
function session(release: string | null, ...acted: readonly Version[]): Trajectory {
  const decisions = acted.map(({ id, parameter }) => ({ version: id, parameter }))
  return {
    ...trajectoryOf({ decisions }),
    origin: {
      kind: 'traffic',
      tenant: defaultTenant,
      key: 'k',
      session: 's',
      agent: 'support',
      subject: null,
      train: true,
      servedBy: release === null ? null : { release: ReleaseId.parse(release), canary: null },
    },
  }
}

it('is that of what serves, for each Parameter that acted but the one that learns', async () => {
  const isInContext = await served([model, learned, tool], [model, better, tool])
  expect(await isInContext(session('r2', model, better, tool))).toBe(true)
  expect(await isInContext(session('r1', mint('model', 'other'), better))).toBe(true)
  expect(await isInContext(session('r1', model, learned))).toBe(false)
  expect(await isInContext(session('r1', model, better, learned)), 'one that changed midway').toBe(false)
  expect(await isInContext(session(null, model, shorter)), 'of an agent without an arm').toBe(false)
  expect(await isInContext(session(null, model))).toBe(true)
})

it('is another one where a text serves that was learned since, and nothing says what text there was', async () => {
  const isInContext = await served([model, declared, tool], [model, learned, tool])
  expect(await isInContext(session('r1', model))).toBe(false)
  expect(await isInContext(session('r1', model, learned)), 'it changed before the first answer').toBe(true)
  expect(await isInContext(session('r2', model))).toBe(true)
  expect(await isInContext(session('r-unknown', model)), 'a release that is gone').toBe(true)
})

it('is that of the texts as they were declared, where these serve again', async () => {
  const isInContext = await served([model, declared], [model, learned], [model, declared])
  expect(await isInContext(session('r1', model))).toBe(true)
  expect(await isInContext(session('r2', model, learned))).toBe(false)
})

it('reads a release once, however many sessions began under it', async () => {
  const isInContext = await served([model, declared], [model, learned])
  const get = vi.spyOn(store.releases, 'get')
  for (let i = 0; i < 9; i++) await isInContext(session('r1', model))
  expect(get).toHaveBeenCalledTimes(1)
})

it('without releases, nothing that acted serves', async () => {
  const isInContext = await todaysContext(store, 'nobody', 'model')
  expect(await isInContext(session(null, model))).toBe(true)
  expect(await isInContext(session(null, model, learned))).toBe(false)
})

it('what acted is told with every Version', () => {
  expect(actedIn(session(null, model, declared, learned))).toEqual(
    new Map([
      ['model', new Set([model.id])],
      ['system', new Set([declared.id, learned.id])],
    ]),
  )
})

it('is another one for a text that was edited, or learned before it had been declared', async () => {
  const edited = mint('system', 'Answer in one word.')
  const isInContext = await served([model, declared], [model, edited, shorter])
  expect(await isInContext(session('r1', model, shorter)), 'the declared prompt was edited').toBe(false)
  expect(await isInContext(session('r1', model, edited)), 'a tool was described meanwhile').toBe(false)
  expect(await isInContext(session('r1', model, edited, shorter))).toBe(true)
  const joined = await todaysContext(store, 'support', 'model')
  expect(await joined(session('r2', model))).toBe(true)
})

it('is left by nothing that another model said in the same session', async () => {
  const weights = (base: string, adapter: string | null) =>
    mintVersion('model', { kind: 'weights', base, baseHash: `of ${base}`, adapter }, { parents: [], run: null })
  const [own, other] = [weights('house', null), weights('small', null)]
  const later = weights('house', 'a'.repeat(64))
  for (const version of [other, later]) await store.versions.put(version)
  await served([own, learned])
  const isInContext = await todaysContext(store, 'support', 'memory')
  expect(await isInContext(session('r1', own, learned, other))).toBe(true)
  expect(await isInContext(session('r1', own, learned, other, declared))).toBe(false)
  // During an outage of the agent's own model, say.
  expect(await isInContext(session('r1', other, learned))).toBe(false)
  expect(await isInContext(session('r1', later, learned))).toBe(false)
})
