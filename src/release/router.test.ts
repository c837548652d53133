import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { asText, type ReleaseId, type Store, TrajectoryId } from '../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { admissionOf, agent, base, model, prompt } from '../../test/support/canary-parts.ts'
import { openReleaseRouter, Registry, type ReleaseRouter, type ReleaseRouterOptions } from './index.ts'

const better = prompt('better')
const session = TrajectoryId.parse('t_1')
/** Rules under which every session gets the candidate, so that a test sees who does. */
const everybody = { name: 'canary', config: {}, shares: [1] }

let store: Store
let registry: Registry
let initial: ReleaseId
const routers: ReleaseRouter[] = []
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  initial = (await registry.initial(agent, [model, base], 1)).id
})
afterEach(async () => {
  for (const router of routers.splice(0)) await router.close()
  await store.close()
})

/** A router that asks only when it is told to. */
async function open(options: Partial<ReleaseRouterOptions> = {}): Promise<ReleaseRouter> {
  const router = await openReleaseRouter({ store, agents: null, everyMs: 3_600_000, ...options })
  routers.push(router)
  return router
}

const tryOut = (text = 'better') =>
  registry.startCanary({ agent, versions: [prompt(text)], admission: null, run: null, gate: everybody })
async function learn(text: string) {
  const { versions } = (await registry.current(agent)).release
  const receipt = admissionOf(versions, { ...versions, system: prompt(text).id })
  return registry.promote({ receipt, versions: [prompt(text)], run: null })
}
/** What the system prompt is for a new session. */
const says = (router: ReleaseRouter, of = agent) => {
  const value = router.assign(of, session, null)?.versions.get('system')?.value
  return asText(value)?.text ?? null
}
const deferred = () => {
  let resolve = () => {}
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}
const settled = () => new Promise((resolve) => setTimeout(resolve, 5))

describe('a router', () => {
  it('knows what serves, without waiting for the store', async () => {
    const router = await open()
    expect(router.assign(agent, session, null)).toMatchObject({
      servedBy: { release: initial, canary: null },
      generation: 1,
      learned: false,
    })
    expect(says(router)).toBe('Answer.')
    expect(router.assign('nobody', session, null)).toBeNull()
  })

  it('follows promotions, canaries and rollbacks', async () => {
    const router = await open()
    const follow = async () => {
      await router.refresh()
      return [says(router), router.assign(agent, session, null)?.generation]
    }
    const canary = await tryOut()
    expect(await follow()).toEqual(['better', 2])
    await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
    expect(await follow()).toEqual(['Answer.', 1])
    await learn('best')
    expect(await follow()).toEqual(['best', 2])
    await registry.rollback(agent)
    expect(await follow()).toEqual(['Answer.', 3])
  })

  it('keeps a session with its arm, and lets go of it when the canary ends', async () => {
    const router = await open()
    await tryOut()
    await router.refresh()
    const first = router.assign(agent, session, null)
    expect(first?.servedBy.canary).toMatchObject({ arm: 'candidate', propensity: 1 })
    expect(router.assign(agent, session, first?.servedBy ?? null)).toEqual(first)
    await registry.rollback(agent, initial)
    await router.refresh()
    const later = router.assign(agent, session, first?.servedBy ?? null)
    expect(later).toMatchObject({ servedBy: first?.servedBy, generation: 1, learned: false })
  })

  it('serves only the agents that it was given, and those that come later', async () => {
    const one = await open({ agents: [agent, 'later'] })
    await registry.initial('later', [model, prompt('Later.')])
    await registry.initial('other', [model, prompt('Other.')])
    await one.refresh()
    expect([says(one, 'later'), says(one, 'other')]).toEqual(['Later.', null])
    expect(says(await open(), 'other')).toBe('Other.')
  })

  it('asks by itself, and reads the rest only when something changed', async () => {
    const serving = vi.spyOn(store.releases, 'serving')
    const changes: unknown[] = []
    const router = await open({ everyMs: 5, onChange: (served) => changes.push(served) })
    const before = router.served
    const asked = router.askedAt
    await vi.waitFor(() => expect(router.askedAt).toBeGreaterThan(asked))
    expect(router.served).toBe(before)
    expect(serving).toHaveBeenCalledTimes(1)
    await learn('best')
    await vi.waitFor(() => expect(says(router)).toBe('best'))
    expect(router.served).not.toBe(before)
    expect(changes).toHaveLength(2)
  })

  it('serves a candidate only as long as somebody watches it, without reading the rest again', async () => {
    let now = Date.now()
    const router = await open({ clock: { now: () => now } })
    const canary = await tryOut()
    await router.refresh()
    const first = router.assign(agent, session, null)
    const revision = await store.releases.revision()
    const serving = vi.spyOn(store.releases, 'serving')
    const follow = async () => {
      await router.refresh()
      return [says(router), router.assign(agent, session, first?.servedBy ?? null)?.generation]
    }
    now += 20_000
    expect(await follow()).toEqual(['better', 2])
    await registry.keepWatched(canary.id, { at: now, forMs: 15_000 })
    now += 14_000
    expect(await follow()).toEqual(['better', 2])
    // Also where the store cannot be asked.
    const broken = vi.spyOn(store.releases, 'revision').mockRejectedValue(new Error('no connection'))
    now += 2_000
    expect(await follow()).toEqual(['Answer.', 1])
    broken.mockRestore()
    await registry.keepWatched(canary.id, { at: now, forMs: 15_000 })
    expect(await follow()).toEqual(['better', 2])
    expect(serving).not.toHaveBeenCalled()
    expect(await store.releases.revision()).toBe(revision)
    const [, story] = await store.canaries.events(canary.id)
    expect(story).toMatchObject({ type: 'unwatched', share: 1, evidence: { until: now } })
  })

  it('leaves a canary alone whose baseline does not serve', async () => {
    const canary = await tryOut()
    const running = [{ ...canary, baseline: 'another' as ReleaseId }]
    vi.spyOn(store.canaries, 'running').mockResolvedValue(running)
    expect(says(await open())).toBe('Answer.')
  })

  it('finds what this process changed at the end of a refresh, also of one under way', async () => {
    const router = await open()
    const early = router.refresh()
    await learn('best')
    await Promise.all([early, router.refresh()])
    expect(says(router)).toBe('best')
  })
})

describe('when the store cannot be read', () => {
  it('what is known goes on serving, one problem is told, and what changed is found later', async () => {
    const problems: unknown[] = []
    const router = await open({ onProblem: (error) => problems.push(error) })
    await learn('best')
    const broken = vi.spyOn(store.releases, 'revision').mockRejectedValue(new Error('no connection'))
    for (let i = 0; i < 3; i++) await router.refresh()
    expect(says(router)).toBe('Answer.')
    expect(problems).toEqual([new Error('no connection')])
    broken.mockRestore()
    await router.refresh()
    expect(says(router)).toBe('best')
    vi.spyOn(store.releases, 'revision').mockRejectedValue(new Error('again'))
    await router.refresh()
    expect(problems).toHaveLength(2)
  })

  it('at the start, the router does not open', async () => {
    vi.spyOn(store.releases, 'serving').mockRejectedValue(new Error('no connection'))
    await expect(open()).rejects.toThrow('no connection')
  })

  it('of one agent, the others follow all the same, and it is read again', async () => {
    await registry.initial('other', [model, prompt('Other.')])
    const problems: unknown[] = []
    const router = await open({ onProblem: (error) => problems.push(error) })
    await learn('best')
    const broken = vi.spyOn(store.versions, 'get').mockResolvedValue(null)
    await router.refresh()
    expect([says(router), says(router, 'other')]).toEqual(['Answer.', 'Other.'])
    expect(problems).toHaveLength(1)
    broken.mockRestore()
    await router.refresh()
    expect(says(router)).toBe('best')
  })
})

describe('what has to be made ready', () => {
  it('is ready before the router opens, and before a candidate gets a session', async () => {
    const ready: string[] = []
    const gates = new Map([['better', deferred()]])
    const router = await open({
      prepare: async (_, versions) => {
        const value = versions.get('system')?.value
        const text = asText(value)?.text ?? ''
        await gates.get(text)?.promise
        ready.push(text)
      },
    })
    expect(ready).toEqual(['Answer.'])
    const canary = await tryOut()
    await router.refresh()
    expect(says(router)).toBe('Answer.')
    gates.get('better')?.resolve()
    await settled()
    expect(says(router)).toBe('better')
    await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
    await router.refresh()
    expect(says(router)).toBe('Answer.')
    await tryOut()
    await router.refresh()
    expect(says(router)).toBe('better')
    expect(ready).toEqual(['Answer.', 'better'])
  })

  it('is no candidate where it cannot be made ready', async () => {
    const problems: unknown[] = []
    const router = await open({
      prepare: (_, versions) =>
        versions.get('system')?.id === better.id ? Promise.reject(new Error('no room')) : Promise.resolve(),
      onProblem: (error) => problems.push(error),
    })
    await tryOut()
    await router.refresh()
    await settled()
    expect(says(router)).toBe('Answer.')
    expect(problems).toEqual([new Error('no room')])
  })

  it('serves everybody all the same, when it takes its time and when it fails', async () => {
    const slow = new Set(['Answer.'])
    const release = await learn('better')
    const problems: unknown[] = []
    const router = await open({
      prepare: (_, versions) => {
        const value = versions.get('system')?.value
        if (slow.has(asText(value)?.text ?? '')) return new Promise(() => {})
        if (asText(value)?.text === 'broken') return Promise.reject(new Error('no room'))
        return Promise.resolve()
      },
      onProblem: (error) => problems.push(error),
    })
    expect(router.assign(agent, session, null)?.servedBy.release).toBe(release.id)
    // The release that it goes back to takes its time: it serves after half a second, ready or not.
    const begun = performance.now()
    await registry.rollback(agent)
    await router.refresh()
    await vi.waitFor(() => expect(says(router)).toBe('Answer.'), { timeout: 900 })
    expect(performance.now() - begun).toBeLessThan(900)
    await learn('broken')
    await router.refresh()
    await settled()
    expect(says(router)).toBe('broken')
    expect(problems).toEqual([new Error('no room')])
  })
})
