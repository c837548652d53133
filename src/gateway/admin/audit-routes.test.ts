import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentKey, type Audit, type AuditDraw, type Canary, type Scope, type Store } from '../../core/index.ts'
import { canaryGate } from '../../gate/index.ts'
import { Registry, watchCanary } from '../../release/index.ts'
import { guardMetrics, rubric, signal } from '../../reward/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { base, model, prompt, sessionCall } from '../../../test/support/canary-parts.ts'
import { serveRoutes } from '../../../test/support/route-server.ts'
import { doorkeeper, newKey } from '../auth/index.ts'
import { ServeConfig } from '../config.ts'
import { BodySpace } from '../http/body-room.ts'
import { auditRoutes } from './index.ts'

const agent = 'support'
const at = `/ratchet/agents/${agent}/audit`
const now = 1_700_000_000_000
const audit = { share: 1, by: 'person', queue: 50 } as const

let store: Store
let registry: Registry
let server: Awaited<ReturnType<typeof serveRoutes>>
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  await registry.initial(agentKey('acme', agent), [model, base], now)
  const clock = { now: () => now }
  const door = doorkeeper({ keys: store.keys, config: ServeConfig.parse({ tenant: 'acme' }), clock })
  server = await serveRoutes(
    auditRoutes({
      door,
      bodyBytes: 65_536,
      bodies: new BodySpace(1_000_000),
      clock,
      store,
      redact: (text) => text.replaceAll('ann@example.com', '[email]'),
      redactName: (name) => name.replaceAll('ann@example.com', 'person-1'),
    }) as never,
  )
})
afterEach(async () => {
  await server.close()
  await store.close()
})

/** A canary with sessions of both arms, each of which was drawn. */
async function drawn(count: number, change: Partial<Audit> = {}): Promise<readonly AuditDraw[]> {
  const key = agentKey('acme', agent)
  const gate = canaryGate({ shares: [0.5], audit: { ...audit, ...change } })
  const began = now - 10_000
  const canary: Canary = await registry.startCanary({
    agent: key,
    versions: [prompt('better')],
    admission: null,
    run: null,
    gate,
    at: began,
  })
  await registry.keepWatched(canary.id, { at: began, forMs: 99_000 })
  for (let i = 0; i < count; i++) {
    const arm = i % 2 === 0 ? 'candidate' : 'baseline'
    const served = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } } as const
    const call = sessionCall(`t_${i}`, served, { at: began + i })
    const system = { id: 'sys', parent: null, message: { role: 'system', content: 'better' }, spans: [] } as never
    await store.traffic.append({ ...call, part: { ...call.part, nodes: [system, ...call.part.nodes] } })
  }
  const judging = { rubric: rubric({ thumbs: signal('thumbs') }), guardMetrics, judgeAfterMs: 1_000 }
  const clock = { now: () => now }
  await watchCanary({ store, registry, canary: canary.id, tenant: 'acme', clock, ...judging })
  return store.audits.drawn(canary.id)
}
async function issue(scopes: Scope[], tenant = 'acme') {
  const { key, token } = newKey({ name: 'k', tenant, scopes, now })
  await store.keys.put(key)
  return { id: key.id, token }
}
const next = (token: string, query = '') => server.call('GET', `${at}/next${query}`, { token })
const label = (token: string, body: object) => server.call('POST', `${at}/labels`, { token, body })

describe('who judges', () => {
  it('sees what was said and done, and nothing that tells the arm', async () => {
    const draws = await drawn(4)
    const { token } = await issue(['audit'])
    const { status, body, text } = await next(token)
    expect(status).toBe(200)
    expect(body).toMatchObject({ drawn: 4, settled: 0, waiting: 4, by: 'person', draw: { id: draws[0]?.id } })
    expect(body.draw.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
    for (const tells of ['candidate', 'baseline', 'better', 't_0', 'propensity', 'version']) {
      expect(text).not.toContain(`"${tells}`)
    }
  })

  it('judges one after the other, may pass one over, and may change their mind', async () => {
    const [first, second] = await drawn(4)
    const { token, id } = await issue(['audit'])
    expect((await next(token, `?after=${first?.id}`)).body.draw.id).toBe(second?.id)
    const said = { draw: first?.id, truth: true, note: 'as ann@example.com wrote' }
    expect((await label(token, said)).body).toEqual({ outcome: 'recorded' })
    expect((await label(token, said)).body).toEqual({ outcome: 'repeated' })
    expect((await next(token)).body.draw.id).toBe(second?.id)
    expect((await label(token, { ...said, truth: null })).body).toEqual({ outcome: 'changed' })
    const standing = await server.call('GET', at, { token })
    expect(standing.body).toMatchObject({
      settled: 1,
      labels: [{ draw: first?.id, reviewer: id, truth: null, note: 'as [email] wrote', withdrawn: false }],
    })
  })

  it('is shown what nobody else is at, and the same draw again where they ask again', async () => {
    const [first, second] = await drawn(2)
    const [ann, bob] = [await issue(['audit']), await issue(['audit'])]
    const shownTo = async (token: string) => (await next(token)).body.draw.id
    expect(await shownTo(ann.token)).toBe(first?.id)
    expect(await shownTo(bob.token)).toBe(second?.id)
    expect(await shownTo(ann.token)).toBe(first?.id)
    const both = await shownTo((await issue(['audit'])).token)
    expect(both).toBe(first?.id)
  })

  it('is one of as many at a draw as it needs', async () => {
    const [first, second] = await drawn(2, { reviewers: 2 })
    const shownTo = async () => (await next((await issue(['audit'])).token)).body.draw.id
    expect([await shownTo(), await shownTo(), await shownTo()]).toEqual([first?.id, first?.id, second?.id])
  })

  it('is shown first what another has judged and one more must', async () => {
    const [first] = await drawn(2, { reviewers: 2 })
    const [ann, bob] = [await issue(['audit']), await issue(['audit'])]
    await next(ann.token)
    await label(ann.token, { draw: first?.id, truth: true })
    expect((await next(bob.token)).body.draw.id).toBe(first?.id)
    expect((await next((await issue(['audit'])).token)).body.draw.id).not.toBe(first?.id)
  })

  it('is one of several people behind a key, who see nothing of each other', async () => {
    const [first] = await drawn(2)
    const { token, id } = await issue(['audit'])
    await label(token, { draw: first?.id, truth: 0.5, reviewer: 'ann@example.com' })
    const other = await issue(['audit'])
    expect((await server.call('GET', at, { token: other.token })).body.labels).toEqual([])
    expect((await store.audits.get(first?.id ?? ''))?.labels).toMatchObject([
      { reviewer: `${id}:person-1`, truth: 0.5 },
    ])
  })

  it.each([
    ['no truth', { truth: 2 }, 400],
    ['words', { truth: 'yes' }, 400],
    ['a draw that there is not', { draw: 'nothing', truth: true }, 404],
  ])('is refused %s', async (_, body, status) => {
    const [first] = await drawn(2)
    const { token } = await issue(['audit'])
    expect((await label(token, { draw: first?.id, ...body })).status).toBe(status)
  })

  it('needs the scope, judges its own tenant’s sessions only, and none that a program judges', async () => {
    const [first] = await drawn(2, { by: 'verifier' })
    const { token } = await issue(['audit'])
    expect((await next(token)).body.error.code).toBe('gateway/audited-elsewhere')
    expect((await label(token, { draw: first?.id, truth: true })).status).toBe(409)
    for (const scopes of [['infer', 'signal', 'read']] as Scope[][]) {
      expect((await next((await issue(scopes)).token)).status).toBe(403)
    }
    expect((await next((await issue(['audit'], 'other')).token)).body.error.code).toBe('gateway/not-audited')
  })

  it('judges what was promoted while the next canary runs, after what that one has', async () => {
    const draws = await drawn(100)
    const { token } = await issue(['audit'])
    const [last] = draws.slice(-1)
    for (const { id, sequence } of draws.slice(0, -1)) await label(token, { draw: id, truth: sequence % 2 === 0 })
    const look = { rubric: rubric({ thumbs: signal('thumbs') }), guardMetrics, judgeAfterMs: 1_000, tenant: 'acme' }
    const clock = { now: () => now }
    const watched = { store, registry, clock, ...look, canary: draws[0]?.canary ?? ('' as never) }
    expect((await watchCanary(watched)).canary.status).toBe('promoted')
    const gate = canaryGate({ shares: [0.5], audit })
    const of = { agent: agentKey('acme', agent), versions: [prompt('still better')], admission: null, run: null, gate }
    const running = await registry.startCanary({ ...of, at: now })
    expect((await next(token)).body).toMatchObject({ canary: last?.canary, draw: { id: last?.id } })
    expect((await label(token, { draw: draws[0]?.id, truth: false })).body).toEqual({ outcome: 'changed' })
    expect((await label(token, { draw: last?.id, truth: true })).body).toEqual({ outcome: 'recorded' })
    const standing = (await server.call('GET', at, { token })).body
    expect(standing).toMatchObject({ canary: running.id, drawn: 0 })
    expect(standing.labels).toHaveLength(draws.length)
    expect((await next(token, `?after=${last?.id}`)).body.draw).toBeNull()
  })

  it('finds nothing where nothing is audited', async () => {
    const { token } = await issue(['audit'])
    expect((await next(token)).body.error).toMatchObject({ code: 'gateway/not-audited' })
  })
})

describe('one key', () => {
  it('fills no quorum with names that it makes up, and adds none without end', async () => {
    const [first] = await drawn(2, { reviewers: 3 })
    const { token } = await issue(['audit'])
    const answers = []
    for (const reviewer of ['a', 'b', 'c', 'd', 'e']) {
      answers.push(await label(token, { draw: first?.id, truth: true, reviewer }))
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 409])
    expect(answers.at(-1)?.body.error.code).toBe('gateway/draw-full')
    expect((await server.call('GET', at, { token })).body).toMatchObject({ settled: 0, waiting: 2 })
    expect((await next(token, '?reviewer=z')).body.draw.id).not.toBe(first?.id)
  })

  it('moves nothing that others settled; who settled it may change their mind', async () => {
    const [first] = await drawn(2)
    const [ann, bob] = [await issue(['audit']), await issue(['audit'])]
    expect((await label(ann.token, { draw: first?.id, truth: true })).status).toBe(200)
    const late = await label(bob.token, { draw: first?.id, truth: false })
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'gateway/draw-settled' } } })
    expect((await label(ann.token, { draw: first?.id, truth: false })).body).toEqual({ outcome: 'changed' })
    expect((await store.audits.get(first?.id ?? ''))?.labels).toHaveLength(1)
  })

  it('at the same moment: one of two reviewers settles it, and nothing of the other is kept', async () => {
    const [first] = await drawn(2)
    const reviewers = [await issue(['audit']), await issue(['audit'])]
    // Both have looked at the draw before either has labelled it.
    const read = store.audits.drawn.bind(store.audits)
    let looks = 0
    vi.spyOn(store.audits, 'drawn').mockImplementation(async (of) => {
      const draws = await read(of)
      looks += 1
      await vi.waitUntil(() => looks === reviewers.length)
      return draws
    })
    const said = reviewers.map(({ token }, i) => label(token, { draw: first?.id, truth: i === 0 }))
    const statuses = (await Promise.all(said)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 409])
    expect((await store.audits.get(first?.id ?? ''))?.labels).toHaveLength(1)
  })
})

describe('who decides', () => {
  it('sees how reviewers agree; who only judges does not', async () => {
    const draws = await drawn(4, { reviewers: 2 })
    const [ann, bob] = [await issue(['audit']), await issue(['audit'])]
    for (const [i, { id }] of draws.entries()) {
      await label(ann.token, { draw: id, truth: i < 2 })
      await label(bob.token, { draw: id, truth: i < 1 })
    }
    const path = `${at}/agreement`
    expect((await server.call('GET', path, { token: ann.token })).status).toBe(403)
    const { body } = await server.call('GET', path, { token: (await issue(['admin'])).token })
    expect(body).toMatchObject({ shared: 4, pairs: [{ draws: 4, kappa: 0.5 }], settled: 3, waiting: 1, judge: null })
    expect(body.reviewers).toHaveLength(2)
  })

  it('takes back what a stolen key said', async () => {
    const [first, second] = await drawn(2)
    const stolen = await issue(['audit'])
    for (const one of [first, second]) await label(stolen.token, { draw: one?.id, truth: true, reviewer: 'x' })
    const withdraw = (token: string) =>
      server.call('POST', '/ratchet/audit/withdraw', { token, body: { key: stolen.id } })
    expect((await withdraw(stolen.token)).status).toBe(403)
    const { token } = await issue(['admin'])
    expect((await withdraw(token)).body).toEqual({ withdrawn: 2 })
    expect((await withdraw(token)).body).toEqual({ withdrawn: 0 })
    expect((await server.call('GET', at, { token })).body).toMatchObject({ settled: 0, waiting: 2 })
    const other = await issue(['admin'], 'other')
    expect((await withdraw(other.token)).body).toEqual({ withdrawn: 0 })
  })
})
