import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  admissionOf,
  base,
  model,
  prompt,
  quickGate,
  sessionCall,
  setOf,
} from '../../../../test/support/canary-parts.ts'
import { serveRoutes } from '../../../../test/support/route-server.ts'
import { type Store, TrajectoryId } from '../../../core/index.ts'
import { releaseRoutes } from '../../../gateway/admin/index.ts'
import { doorkeeper, newKey } from '../../../gateway/auth/index.ts'
import { ServeConfig } from '../../../gateway/index.ts'
import { BodySpace } from '../../../gateway/http/body-room.ts'
import { Registry } from '../../../release/index.ts'
import { openStore } from '../../../store/index.ts'
import { releasesCommand } from '../releases.ts'
import { canariesCommand } from './canaries.ts'
import type { ChangeFlags } from './change-serving.ts'
import { pinCommand, unpinCommand } from './pin.ts'
import { promoteCommand } from './promote.ts'
import { rollbackCommand } from './rollback.ts'
import { tryCommand, type TryFlags } from './try.ts'

const agent = 'support'
let folder: string
let initial: string
const open: { close(): Promise<unknown> }[] = []
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-release-'))
  initial = await writing(async (store) => (await new Registry(store).initial(agent, [model, base], 1)).id)
})
afterEach(async () => {
  vi.unstubAllGlobals()
  for (const one of open.splice(0).toReversed()) await one.close()
  rmSync(folder, { recursive: true })
})

async function writing<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ path: join(folder, 'ratchet.db'), thread: 'main' })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** What a command writes to standard output. */
async function says(command: (flags: ChangeFlags) => Promise<void>, flags: ChangeFlags = {}): Promise<string> {
  let output = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text)
    return true
  })
  try {
    await command({ store: folder, ...flags })
    return stripVTControlCharacters(output)
  } finally {
    write.mockRestore()
  }
}
const tells = async (command: (flags: ChangeFlags) => Promise<void>, flags: ChangeFlags = {}) =>
  (await says(command, { json: true, ...flags }))
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

const back = (release?: string) => (flags: ChangeFlags) => rollbackCommand(release, flags)
const pin = (release?: string) => (flags: ChangeFlags) => pinCommand(release, { reason: 'the fair', ...flags })
const canaries = (flags: ChangeFlags) => canariesCommand({ limit: 10, ...flags })

const tryOut = (text = 'better') =>
  writing((store) =>
    new Registry(store).startCanary({
      agent,
      versions: [prompt(text)],
      admission: null,
      run: null,
      gate: quickGate,
      at: 5,
    }),
  )
const learn = () =>
  writing((store) =>
    new Registry(store).promote({
      receipt: admissionOf(setOf(model, base), setOf(model, prompt('learned'))),
      versions: [prompt('learned')],
      run: null,
      at: 3,
    }),
  )

/** A gateway over the store, which has it locked. */
async function gateway(path = folder): Promise<{ readonly url: string; readonly store: Store }> {
  const store = await openStore({ path: join(path, 'ratchet.db'), thread: 'main' })
  open.push(store)
  const clock = { now: () => 100 }
  const door = doorkeeper({ keys: store.keys, config: ServeConfig.parse({}), clock })
  const rest = { rules: () => quickGate, redact: (text: string) => text }
  const options = { door, bodyBytes: 65_536, bodies: new BodySpace(1_000_000), clock, store, ...rest }
  const server = await serveRoutes(releaseRoutes(options) as never)
  open.push(server)
  return { url: server.url, store }
}

/** Lets a gateway answer at the usual address. */
function atUsualAddress(url: string): void {
  const real = fetch
  vi.stubGlobal('fetch', (address: string, init: RequestInit) =>
    real(address.replace('http://127.0.0.1:8787', url), init),
  )
}

describe('rollback', () => {
  it('takes the canary back first, then the release, and says which', async () => {
    const { id } = await learn()
    const canary = await tryOut()
    expect(await says(back())).toBe(`✓ The canary ${canary.id} of support was rolled back: everybody gets ${id}.\n`)
    expect(await says(back())).toBe(`✓ support serves ${initial} again.\n`)
    await expect(says(back())).rejects.toMatchObject({ code: 'release/nothing-before' })
    expect(await tells(back(id))).toMatchObject([{ agent: { agent, serving: id, generation: 4 }, canary: null }])
  })

  it('to a release that is named also ends the canary', async () => {
    const canary = await tryOut()
    expect(await says(back(initial))).toBe(`✓ support serves ${initial} again. The canary ${canary.id} ended.\n`)
    await expect(says(back('none'))).rejects.toMatchObject({ code: 'release/unknown-release' })
  })

  it('names the agent where there are several', async () => {
    await writing((store) => new Registry(store).initial('acme/support', [model, base], 1))
    await expect(says(back())).rejects.toMatchObject({ code: 'input/which-agent' })
    await expect(says(back(), { agent: 'acme/support' })).rejects.toMatchObject({ code: 'release/nothing-before' })
  })
})

describe('try', () => {
  const file = (name: string, text: string | Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const tryOf = (more: TryFlags, from?: string) => (flags: ChangeFlags) => tryCommand(from, { ...flags, ...more })
  const config = (learn: object | undefined) =>
    file('serve.json', JSON.stringify({ agents: [{ name: agent, model: 'tiny', ...(learn && { learn }) }] }))

  it('starts a canary of texts by the rules of the configuration, and says that nobody watches yet', async () => {
    const flags = {
      config: config({ canary: { shares: [0.2] } }),
      system: file('system.txt', 'Be brief.\n'),
      tool: [`search=${file('search.txt', 'Looks things up.')}`],
    }
    const said = await says(tryOf(flags))
    const running = await writing((store) => new Registry(store).runningCanary(agent))
    expect(said).toContain(`✓ The canary ${running?.id} of support runs: 20 % of the sessions get the candidate`)
    expect(said).toContain('No learner of support is running')
    expect(said).toContain('describes no tool search')
    const texts = await writing((store) =>
      Promise.all(['system', 'tool-search'].map((name) => store.versions.get(running!.candidate[name]!))),
    )
    expect(texts.map((version) => version?.value)).toEqual([
      { kind: 'text', text: 'Be brief.' },
      { kind: 'text', text: 'Looks things up.' },
    ])
  })

  it('tries what went back again, through the gateway that has the store', async () => {
    const { id } = await tryOut()
    await says(back())
    const { url } = await gateway()
    atUsualAddress(url)
    expect(await tells(tryOf({}, id))).toMatchObject([
      { canary: { status: 'running', share: 0.5, candidate: setOf(prompt('better')) }, watched: false },
    ])
  })

  it.each([
    ['input/no-canary-rules', () => ({ config: config(undefined), system: file('s', 'x') })],
    ['input/no-canary-rules', () => ({ system: file('s', 'x') })],
    ['release/nothing-to-try', () => ({ config: config({}) })],
    ['input/unreadable-text', () => ({ system: join(folder, 'missing') })],
    ['input/unreadable-text', () => ({ system: file('s', new Uint8Array([0xff, 0xfe])) })],
    ['input/unreadable-text', () => ({ system: file('s', 'x'.repeat(300_000)) })],
    ['input/invalid', () => ({ system: file('s', '') })],
    ['input/invalid', () => ({ tool: ['search'] })],
  ])('refuses with %s, and starts nothing', async (code, flags) => {
    await expect(says(tryOf(flags()))).rejects.toMatchObject({ code })
    expect(await writing((store) => store.canaries.list({ limit: 1 }))).toEqual([])
  })
})

describe('while a gateway has the store', () => {
  it('goes through it, when it is named or is where gateways are', async () => {
    const canary = await tryOut()
    const { url, store } = await gateway()
    expect(await says(pin(), { url })).toContain(`support is pinned to ${initial}: no gate changes what serves`)
    atUsualAddress(url)
    expect(await says(back())).toBe(
      `✓ The canary ${canary.id} of support was rolled back: everybody gets ${initial}. (through the gateway at http://127.0.0.1:8787)\n`,
    )
    expect((await store.canaries.get(canary.id))?.status).toBe('rolled-back')
    expect(await says((flags) => unpinCommand(flags))).toContain('support is no longer pinned.')
    expect(await store.releases.pinned(agent)).toBeNull()
  })

  it('needs a key where the gateway asks for one', async () => {
    await learn()
    const { url, store } = await gateway()
    const { key, token } = newKey({ name: 'k', tenant: 'default', scopes: ['admin'], now: 1 })
    await store.keys.put(key)
    await expect(says(back(), { url })).rejects.toMatchObject({
      code: 'input/gateway-refused',
      hint: expect.stringContaining('--key'),
    })
    expect(await tells(back(), { url, key: token })).toMatchObject([{ agent: { serving: initial } }])
  })

  it('says the command to run where no gateway answers', async () => {
    await learn()
    await gateway()
    vi.stubGlobal('fetch', () => Promise.reject(new Error('connect ECONNREFUSED')))
    await expect(says(back())).rejects.toMatchObject({
      code: 'input/store-in-use',
      message: expect.stringContaining('ECONNREFUSED'),
      hint: expect.stringContaining('ratchet rollback --agent support --url http://HOST:PORT --key KEY'),
    })
  })

  it('never changes another store in its place', async () => {
    await learn()
    const other = mkdtempSync(join(tmpdir(), 'ratchet-other-'))
    try {
      const { store, url } = await gateway(other)
      await new Registry(store).initial(agent, [model, base], 2)
      await gateway()
      atUsualAddress(url)
      await expect(says(back())).rejects.toMatchObject({
        code: 'input/store-in-use',
        message: expect.stringContaining('serves another store'),
      })
    } finally {
      for (const one of open.splice(0).toReversed()) await one.close()
      rmSync(other, { recursive: true })
    }
  })
})

it('promote asks the gateway, and passes its reasons on', async () => {
  await tryOut()
  const { url } = await gateway()
  await expect(says((flags) => promoteCommand(undefined, flags), { url })).rejects.toMatchObject({
    code: 'input/gateway-refused',
    message: expect.stringContaining('gateway/judges-no-canaries'),
  })
})

it('pin holds what is named only if it serves', async () => {
  const { id } = await learn()
  await expect(says(pin(initial))).rejects.toMatchObject({ code: 'release/not-serving' })
  expect(await says(pin(id))).toBe(
    `✓ support is pinned to ${id}: no gate changes what serves until \`ratchet unpin\`.\n`,
  )
  expect(await says((flags) => unpinCommand(flags))).toBe('✓ support is no longer pinned.\n')
  expect(await says((flags) => unpinCommand(flags))).toBe('support was not pinned.\n')
})

describe('releases and canaries', () => {
  it('are listed with generations, evidence, pin and canary', async () => {
    const { id } = await learn()
    const canary = await tryOut()
    await says(pin())
    expect(await tells(releasesCommand)).toMatchObject([
      {
        id,
        serving: true,
        generation: 2,
        evidence: 'held-out',
        pin: { reason: 'the fair' },
        canary: { id: canary.id, share: 0.5, status: 'running' },
      },
      { id: initial, serving: false, generation: 1, evidence: 'initial', pin: null, canary: null },
    ])
    const shown = await says(releasesCommand)
    expect(shown).toMatch(new RegExp(`● ${id} .* support {2}generation 2 {2}evidence: held-out`))
    expect(shown).toMatch(/pinned since .*: the fair/)
    expect(shown).toMatch(new RegExp(`canary ${canary.id} gets 50 % of the sessions since 1970`))
    expect(shown).not.toContain(canary.salt)
  })

  it('tell the story of each canary', async () => {
    const canary = await tryOut()
    expect(await tells(canaries)).toMatchObject([{ watched: false }])
    expect(await says(canaries)).toContain('not watched: everybody gets the baseline')
    expect(await says(canaries)).toContain('It is candidate 1 of the agent, after 0 promotions: its level is 0.0383.')
    expect(await says(canaries)).toContain('All candidates together have 0.1 (fdr).')
    const at = Date.now()
    await writing((store) => new Registry(store).keepWatched(canary.id, { at, forMs: 60_000 }))
    expect(await tells(canaries)).toMatchObject([{ watched: true }])
    await writing(async (store) => {
      const judged = (['candidate', 'baseline', 'baseline'] as const).map((arm, sequence) => ({
        trajectory: TrajectoryId.parse(`t${sequence}`),
        sequence,
        arm,
        propensity: 0.5,
        reward: null,
        guards: {},
        leftOut: sequence === 2 ? ('over-share' as const) : null,
        unheard: 0,
        audit: null,
        reporters: [],
        began: 5,
        rules: 'r',
      }))
      for (const id of ['t0', 't1', 't2', 't3']) {
        const served = {
          release: canary.baseline,
          canary: { id: canary.id, arm: 'baseline', propensity: 0.5 },
        } as const
        await store.traffic.append(sessionCall(id, served, { at: 5 }))
      }
      await store.canaries.appendJudged(canary.id, judged)
      await new Registry(store).rollBackCanary(canary.id, { reasons: ['The reward is lower.'], at: 9 })
    })
    const [told] = await tells(canaries)
    expect(told).toMatchObject({
      id: canary.id,
      status: 'rolled-back',
      share: 0,
      sessions: {
        total: 4,
        judged: { baseline: 1, candidate: 1 },
        leftOut: { overShare: 1, unwatched: 0, withheld: 0 },
        unjudged: 1,
      },
      watched: null,
      events: [{ type: 'started' }, { type: 'unwatched' }, { type: 'rolled-back', reasons: ['The reward is lower.'] }],
    })
    expect(told).not.toHaveProperty('salt')
    const shown = await says(canaries)
    expect(shown).toMatch(/rolled-back {2}system against .* live evidence only/)
    expect(shown).toContain('4 sessions, judged: 1 baseline, 1 candidate, 1 over share, 1 not judged\n')
    expect(shown).toMatch(/started +50 % {2}50 % of the sessions get the candidate/)
    expect(await says(canaries, { agent: 'nobody' })).toContain('No canaries yet')
  })
})
