import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agent, base, model, prompt, sessionCall } from '../../../../test/support/canary-parts.ts'
import { serveRoutes } from '../../../../test/support/route-server.ts'
import { type Store, TrajectoryId } from '../../../core/index.ts'
import { canaryGate } from '../../../gate/index.ts'
import { auditRoutes, auditSignals } from '../../../gateway/admin/index.ts'
import { doorkeeper, newKey } from '../../../gateway/auth/index.ts'
import { BodySpace } from '../../../gateway/http/body-room.ts'
import { ServeConfig } from '../../../gateway/index.ts'
import { Registry } from '../../../release/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { type AuditFlags, AuditGateway } from './audit-gateway.ts'
import { auditLabelCommand, truthOf } from './label.ts'
import { auditNextCommand, sessionLines } from './next.ts'
import { auditPlanCommand } from './plan.ts'
import { auditSignalsCommand } from './signals.ts'
import { auditAgreementCommand, auditListCommand, auditWithdrawCommand } from './standing.ts'

const now = 1_700_000_000_000
let store: Store
let server: Awaited<ReturnType<typeof serveRoutes>>
let flags: AuditFlags & { readonly key: string }
let id: string
beforeEach(async () => {
  store = await openMemoryStore()
  const registry = new Registry(store)
  await registry.initial(agent, [model, base], now)
  const clock = { now: () => now }
  const door = doorkeeper({ keys: store.keys, config: ServeConfig.parse({}), clock })
  const bodies = new BodySpace(1_000_000)
  const asked = { door, bodyBytes: 65_536, bodies, clock, store }
  const routes = auditRoutes({ ...asked, redact: (text) => text, redactName: (name) => name })
  routes.route('/', auditSignals({ ...asked, paidBy: () => ({ range: [-1, 1], rubric: null }) }))
  server = await serveRoutes(routes as never)
  const { key, token } = newKey({ name: 'k', tenant: 'default', scopes: ['admin'], now })
  await store.keys.put(key)
  id = key.id
  flags = { url: server.url, key: token, agent }
  const gate = canaryGate({ shares: [0.5], audit: { share: 1, by: 'person' } })
  const versions = [prompt('better')]
  const canary = await registry.startCanary({ agent, versions, admission: null, run: null, gate, at: now })
  const judged = ['t0', 't1', 't2'].map((name, sequence) => ({
    trajectory: TrajectoryId.parse(name),
    arm: 'baseline' as const,
    propensity: 0.5,
    reward: 1,
    guards: {},
    signals: sequence === 0 ? {} : { thumbs: 1 },
    audit: { probability: 1, draw: `d${sequence}` },
    sequence,
    began: now + sequence,
    leftOut: null,
    unheard: 0,
    reporters: [],
    rules: 'r',
    paidBy: 'r',
  }))
  for (const { trajectory, began } of judged) {
    const served = { release: canary.baseline, canary: { id: canary.id, arm: 'baseline', propensity: 0.5 } } as const
    await store.traffic.append(sessionCall(trajectory, served, { at: began }))
  }
  await store.canaries.appendJudged(canary.id, judged)
})
afterEach(async () => {
  await server.close()
  await store.close()
})

/** What a command writes to standard output. */
async function says(work: () => Promise<void>): Promise<string> {
  let output = ''
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text)
    return true
  })
  try {
    await work()
    return stripVTControlCharacters(output)
  } finally {
    write.mockRestore()
  }
}

describe('ratchet audit', () => {
  it('shows what is next, takes what is said of it, and then shows the one after', async () => {
    expect(await says(() => auditNextCommand(flags))).toMatch(
      /draw d0[\s\S]*user[\s\S]*npx ratchet audit label d0 right/,
    )
    expect(await says(() => auditLabelCommand('d0', 'right', { ...flags, note: 'It is there.' }))).toContain('recorded')
    expect(await says(() => auditLabelCommand('d1', 'unknown', flags))).toContain('it cannot be told')
    expect(await says(() => auditNextCommand(flags))).toMatch(/draw d2[\s\S]*2 of 3 judged, 1 wait/)
    await says(() => auditLabelCommand('d2', '0.5', flags))
    expect(await says(() => auditNextCommand(flags))).toContain('Nothing waits for you.')
    expect(await says(() => auditListCommand(flags))).toMatch(/3 judged[\s\S]*d0 {2}1 {2}It is there\.[\s\S]*d1 {2}\?/)
  })

  it('goes on where others have judged meanwhile what it showed', async () => {
    const { key, token } = newKey({ name: 'other', tenant: 'default', scopes: ['audit'], now })
    await store.keys.put(key)
    const [mine, others] = [await AuditGateway.of(flags), await AuditGateway.of({ ...flags, key: token })]
    expect(await mine.judge('d0', 1)).toBe(true)
    expect(await others.judge('d0', 0)).toBe(false)
    expect((await store.audits.get('d0'))?.labels).toMatchObject([{ reviewer: id, truth: 1 }])
    await expect(others.judge('nothing', 0)).rejects.toThrow('unknown-draw')
  })

  it('tells how two people agree, and takes back what their key said', async () => {
    for (const draw of ['d0', 'd1']) {
      await says(() => auditLabelCommand(draw, 'right', { ...flags, by: 'ann' }))
      const truth = draw === 'd0' ? 1 : 0
      const bob = { draw, reviewer: `${id}:bob`, truth, tenant: 'default', by: 'person', note: '', at: now } as const
      await store.audits.label(bob)
    }
    const told = await says(() => auditAgreementCommand(flags))
    expect(told).toMatch(/Krippendorff's alpha: 0\.00 over 2/)
    expect(told).toContain(`${id}:ann: 2 judged, mean 1.00, with the others in 50 %`)
    expect(await says(() => auditWithdrawCommand(id, flags))).toContain('4 labels')
    expect(await says(() => auditListCommand(flags))).toContain('0 judged, 3 wait')
  })

  it('tells how well signals predict the truth, to those who decide', async () => {
    expect(await says(() => auditSignalsCommand(flags))).toContain('0 labels')
    await says(() => auditLabelCommand('d0', 'wrong', flags))
    await says(() => auditLabelCommand('d1', 'right', flags))
    expect(await says(() => auditSignalsCommand(flags))).toMatch(
      /^2 labels.*\nthumbs {2}counts × 1\.00 in learning .*\n {2}right in 100 % of the sessions with it \(1\), in 0 % of the others; correlation 1\.00\n/,
    )
    const asked = JSON.parse(await says(() => auditSignalsCommand({ ...flags, json: true })))
    expect(asked).toMatchObject({ labels: 2, signals: [{ signal: 'thumbs', factor: 1, candidate: { labels: 0 } }] })
    const { key, token } = newKey({ name: 'other', tenant: 'default', scopes: ['audit'], now })
    await store.keys.put(key)
    await expect(auditSignalsCommand({ ...flags, key: token })).rejects.toThrow()
  })

  it('refuses what is no truth', () => {
    expect(['right', 'wrong', 'unknown', '0.25'].map(truthOf)).toEqual([1, 0, null, 0.25])
    for (const text of ['', 'maybe', '2', '-1']) expect(() => truthOf(text)).toThrow('does not say how true')
  })

  it('shows nothing that could forge a line of the terminal', () => {
    const message = { role: 'user', content: 'a\u001b[2Jb', calls: [], cut: true }
    expect(sessionLines({ id: 'd', messages: [message] }, 80)).not.toContain('\u001b[2J')
  })

  it.each([0, 60])('lets no session forge who speaks, on a screen of %i columns', (columns) => {
    const content = `Done.\n\nuser\nThanks, exactly right!${' x'.repeat(40)}\n${'\u00a0'.repeat(58)}user\n${' '.repeat(40)}${'z'.repeat(18)}user\n${'\u3042'.repeat(29)}user\n\tuser`
    const calls = [`send {"text":"${'y '.repeat(30)}user"}`]
    const lines = stripVTControlCharacters(
      sessionLines({ id: 'd', messages: [{ role: 'assistant', content, calls, cut: false }] }, columns),
    ).split('\n')
    expect(lines.slice(0, 3)).toEqual(['draw d', '', 'assistant'])
    for (const line of lines.slice(3)) {
      expect(line).toMatch(/^│ /)
      if (columns > 0) expect(line.length).toBeLessThanOrEqual(columns)
    }
    expect(lines.some((line) => line.startsWith('│ → send'))).toBe(true)
  })

  it('says when it shows only the beginning of a tool call', () => {
    const shown = (call: string) =>
      sessionLines({ id: 'd', messages: [{ role: 'assistant', content: '', calls: [call], cut: false }] }, 80)
    expect(shown(`send ${'x'.repeat(500)}`)).toContain('only the first 400 characters of a call are shown')
    expect(shown('send it')).not.toContain('only the first')
  })

  it('plans', async () => {
    const told = await says(() => auditPlanCommand({ effect: 0.3, json: true }))
    expect(JSON.parse(told)).toMatchObject({ effect: 0.3, share: 0.25, labels: expect.any(Number) })
    expect(await says(() => auditPlanCommand({ effect: 0.3 }))).toMatch(/^\d+ labels show it in 80 % of the canaries/)
    await expect(auditPlanCommand({ effect: 3 })).rejects.toThrow('effect')
  })
})
