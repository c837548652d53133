import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  agentKey,
  asText,
  type CanaryId,
  mintVersion,
  type ReleaseId,
  type Scope,
  type Store,
} from '../../core/index.ts'
import { type CanaryRules, type Looked, Registry, watchCanary } from '../../release/index.ts'
import { leaseOf } from '../../learn/index.ts'
import { guardMetrics, rubric, signal } from '../../reward/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { base, model, prompt, quickGate, sessionCall, setOf, thumb } from '../../../test/support/canary-parts.ts'
import { serveRoutes } from '../../../test/support/route-server.ts'
import { doorkeeper, newKey } from '../auth/index.ts'
import { ServeConfig } from '../config.ts'
import { BodySpace } from '../http/body-room.ts'
import { releaseRoutes } from './index.ts'

const agent = 'support/eu'
const key = agentKey('acme', agent)
const at = '/ratchet/agents/support%2Feu'
const now = 1_700_000_000_000

let store: Store
let registry: Registry
let initial: ReleaseId
let server: Awaited<ReturnType<typeof serveRoutes>>
let admin: string
let changes: number
let judges: boolean
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  initial = (await registry.initial(key, [model, base], now)).id
  await registry.initial(agentKey('default', 'theirs'), [model, base], now)
  changes = 0
  await serve()
})
afterEach(async () => {
  await server.close()
  await store.close()
})

async function serve(look?: (canary: CanaryId) => Promise<Looked>, rules?: () => CanaryRules | null): Promise<void> {
  const clock = { now: () => now }
  const door = doorkeeper({ keys: store.keys, config: ServeConfig.parse({ tenant: 'acme' }), clock })
  const options = {
    door,
    bodyBytes: 65_536,
    bodies: new BodySpace(1_000_000),
    clock,
    store,
    redact: (text: string) => text,
  }
  const onServingChanged = () => Promise.resolve(void (changes += 1))
  server = await serveRoutes(
    releaseRoutes({ ...options, onServingChanged, ...(look && { look }), ...(rules && { rules }) }) as never,
  )
  judges = look !== undefined
}

const issue = async (scopes: Scope[], tenant = 'acme') => {
  const made = newKey({ name: 'k', tenant, scopes, now })
  await store.keys.put(made.key)
  return made.token
}
const ask = (method: string, path: string, body?: unknown, token: string | null = admin) =>
  server.call(method, path, { ...(token !== null && { token }), ...(body !== undefined && { body }) })
const tryOut = () =>
  registry.startCanary({
    agent: key,
    versions: [prompt('better')],
    admission: null,
    run: null,
    gate: quickGate,
    at: now - 10_000,
  })

describe('with a key', () => {
  beforeEach(async () => {
    admin = await issue(['admin'])
  })

  it('shows what serves the agents of the tenant, and no others', async () => {
    const canary = await tryOut()
    const { status, body } = await ask('GET', '/ratchet/agents')
    expect(status).toBe(200)
    expect(body.agents).toMatchObject([
      { agent, serving: initial, generation: 1, since: now, pin: null, canary: { id: canary.id, agent, share: 0.5 } },
    ])
    expect(JSON.stringify(body)).not.toContain(canary.salt)
    const shown = await ask('GET', `${at}/releases`)
    expect(shown.body).toMatchObject({
      agent,
      releases: [{ id: initial, evidence: 'initial', serving: true, generation: 1, versions: setOf(model, base) }],
    })
    expect((await ask('GET', '/ratchet/agents/theirs/releases')).body.error.code).toBe('gateway/unknown-agent')
  })

  it('goes back: the canary first, then the release, then no further', async () => {
    const canary = await tryOut()
    const first = await ask('POST', `${at}/rollback`, {})
    expect(first).toMatchObject({
      status: 200,
      body: { agent: { serving: initial, canary: null }, canary: { id: canary.id, status: 'rolled-back', share: 0 } },
    })
    expect(changes).toBe(1)
    expect(await ask('POST', `${at}/rollback`, {})).toMatchObject({
      status: 409,
      body: { error: { code: 'release/nothing-before' } },
    })
    expect(await ask('POST', `${at}/rollback`, { release: 'none' })).toMatchObject({
      status: 404,
      body: { error: { code: 'release/unknown-release' } },
    })
    expect(await ask('POST', '/ratchet/agents/theirs/rollback', {})).toMatchObject({ status: 404 })
    expect(await ask('POST', `${at}/rollback`, { relaese: initial })).toMatchObject({ status: 400 })
    expect(changes).toBe(1)
  })

  it('pins, and lets go', async () => {
    const pinned = await ask('POST', `${at}/pin`, { reason: 'the fair', release: initial })
    expect(pinned.body.agent.pin).toEqual({ agent, release: initial, reason: 'the fair', at: now })
    await expect(tryOut()).rejects.toThrow('the fair')
    expect(await ask('POST', `${at}/pin`, { reason: '', release: 'other' })).toMatchObject({ status: 409 })
    expect((await ask('POST', `${at}/unpin`, {})).body).toMatchObject({ agent: { pin: null }, pinned: true })
    expect((await ask('POST', `${at}/unpin`, {})).body).toMatchObject({ pinned: false })
  })

  it('promotes nothing that nobody can judge, and no canary that does not run', async () => {
    expect(await ask('POST', `${at}/promote`, {})).toMatchObject({
      status: 409,
      body: { error: { code: 'release/no-canary' } },
    })
    await tryOut()
    expect(judges).toBe(false)
    expect(await ask('POST', `${at}/promote`, {})).toMatchObject({
      status: 409,
      body: { error: { code: 'gateway/judges-no-canaries' } },
    })
    expect((await ask('POST', `${at}/promote`, { canary: 'other' })).body.error.code).toBe('release/no-canary')
  })

  it.each<[Scope[], string, number]>([
    [['read', 'infer', 'signal'], 'acme', 403],
    [['infer'], 'acme', 403],
    [['admin'], 'default', 404],
  ])('lets %j of %s change nothing', async (scopes, tenant, status) => {
    const token = await issue(scopes, tenant)
    for (const change of ['rollback', 'promote', 'unpin', 'try']) {
      expect((await ask('POST', `${at}/${change}`, {}, token)).status).toBe(status)
    }
    expect((await ask('POST', `${at}/rollback`, {}, null)).status).toBe(401)
    expect((await registry.current(key)).release.id).toBe(initial)
  })
})

describe('what a person puts together', () => {
  beforeEach(async () => {
    await server.close()
    await serve(undefined, () => quickGate)
    admin = await issue(['admin'])
  })
  const texts = { system: 'Be brief.', tools: { search: 'Looks things up.' } }

  it('gets a canary by the rules of the agent, and says whether anybody watches', async () => {
    const tried = await ask('POST', `${at}/try`, texts)
    expect(tried).toMatchObject({
      status: 200,
      body: {
        agent: { serving: initial },
        canary: { agent, status: 'running', share: 0.5, run: null },
        watched: false,
        newTools: ['search'],
      },
    })
    const running = await registry.runningCanary(key)
    expect(running).toMatchObject({ id: tried.body.canary.id, gate: { config: quickGate.config }, baseline: initial })
    const { system, 'tool-search': search, ...others } = running!.candidate
    expect(others, 'what it does not name stays as it serves').toEqual({})
    expect((await store.versions.get(system!))?.value).toEqual({ kind: 'text', text: texts.system })
    expect((await store.versions.get(system!))?.parents).toEqual([base.id])
    expect((await store.versions.get(search!))?.value).toEqual({ kind: 'text', text: texts.tools.search })
    expect(changes).toBe(1)
  })

  it('is watched where a learner is at work', async () => {
    await store.leases.acquire(leaseOf(key), 'somebody', { now, ttlMs: 1_000 })
    expect((await ask('POST', `${at}/try`, texts)).body.watched).toBe(true)
  })

  it('may be what went back, and texts beside it', async () => {
    const canary = await tryOut()
    await ask('POST', `${at}/rollback`, {})
    const again = await ask('POST', `${at}/try`, { from: canary.id, tools: texts.tools })
    expect(again).toMatchObject({ status: 200, body: { canary: { candidate: { system: prompt('better').id } } } })
    expect(again.body.canary.candidate['tool-search']).toBeDefined()
  })

  it.each([
    [{}, 409, 'release/nothing-to-try'],
    [{ system: asText(base.value)?.text ?? '' }, 409, 'release/nothing-to-try'],
    [{ from: 'none' }, 404, 'release/unknown-candidate'],
    [{ system: '' }, 400, 'gateway/invalid-request'],
    [{ systme: 'x' }, 400, 'gateway/invalid-request'],
    [{ system: 'x'.repeat(300_000) }, 413, 'gateway/body-too-large'],
    [{ tools: { 'no tool': 'x' } }, 400, 'gateway/invalid-request'],
  ])('%j is refused, and nothing is written', async (body, status, code) => {
    expect(await ask('POST', `${at}/try`, body)).toMatchObject({ status, body: { error: { code } } })
    expect(await registry.runningCanary(key)).toBeNull()
    expect(changes).toBe(0)
  })

  it('is refused beside another canary, while what serves is pinned, and for what is another agent’s', async () => {
    const { id } = await tryOut()
    const refused = async (body: object, code: string) =>
      expect((await ask('POST', `${at}/try`, body)).body.error.code).toBe(code)
    await refused(texts, 'release/canary-running')
    const [theirs] = await store.releases.list({ agent: agentKey('default', 'theirs'), limit: 1 })
    await refused({ from: theirs!.id }, 'release/unknown-candidate')
    await registry.rollBackCanary(id, { reasons: ['enough'], at: now })
    await registry.pin(key, 'the fair')
    await refused(texts, 'release/pinned')
    const made = mintVersion('system', { kind: 'text', text: texts.system }, { parents: [], run: null })
    expect(await store.versions.get(made.id)).toBeNull()
  })

  it('is refused where nothing says how it is judged', async () => {
    await server.close()
    await serve()
    expect(await ask('POST', `${at}/try`, texts)).toMatchObject({
      status: 409,
      body: { error: { code: 'gateway/judges-no-canaries' } },
    })
  })
})

it('lets this machine decide where no key is asked for: all of it can be undone', async () => {
  await tryOut()
  expect(await ask('POST', `${at}/rollback`, {}, null)).toMatchObject({ status: 200, body: { canary: { agent } } })
  expect((await ask('GET', '/ratchet/agents', undefined, null)).body.agents).toHaveLength(1)
})

describe('where canaries are judged', () => {
  beforeEach(async () => {
    await server.close()
    const judging = { rubric: rubric({ thumbs: signal('thumbs') }), guardMetrics, judgeAfterMs: 1_000, tenant: 'acme' }
    await serve((canary) => watchCanary({ store, registry, canary, clock: { now: () => now }, ...judging }))
    admin = await issue(['admin'])
  })

  it('a canary is promoted when the gate says so, and refused with its reasons when not', async () => {
    const canary = await tryOut()
    const refused = await ask('POST', `${at}/promote`, {})
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'gateway/not-promoted' } } })
    expect(refused.body.error.message).toContain('The gate says "wait": Both arms have not been seen yet')
    for (let i = 0; i < 100; i++) {
      const arm = i % 2 === 0 ? 'candidate' : 'baseline'
      const began = now - 9_000 + i
      const servedBy = { release: initial, canary: { id: canary.id, arm, propensity: 0.5 } } as const
      const call = sessionCall(`t_${i}`, servedBy, { at: began })
      await store.traffic.append({
        ...call,
        head: { ...call.head, origin: { ...call.head.origin, tenant: 'acme', agent } },
      })
      const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 999 }
      const said = { ...thumb(`t_${i}`, i % 2 === 0 ? 1 : 0, began + 1), tenant: 'acme' }
      await store.signals.append([said], { caps, now: began + 1 })
    }
    const promoted = await ask('POST', `${at}/promote`, { canary: canary.id })
    expect(promoted).toMatchObject({ status: 200, body: { canary: { status: 'promoted', share: 1 } } })
    expect((await ask('GET', `${at}/releases`)).body.releases).toMatchObject([
      { evidence: 'behaviour-only', serving: true, generation: 2 },
      { evidence: 'initial', serving: false },
    ])
  })
})
