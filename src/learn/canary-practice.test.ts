import { afterEach, beforeEach, expect, it } from 'vitest'
import { agent, sessionCall } from '../../test/support/canary-parts.ts'
import { CallId, type Canary, type ModelCall, ReleaseId, type Store } from '../core/index.ts'
import { present } from '../errors/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { practiceBefore } from './canary-practice.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const canary = { id: 'c1', agent, startedAt: 1_000 } as Pick<Canary, 'id' | 'agent' | 'startedAt'>
const practice = (of = canary, tenant = 'default', trusted: readonly string[] = []) =>
  practiceBefore({ store, tenant, historyMs: 900, reporters: { trusted: [...trusted] } }, of)
const clear = { asked: 'Fix it', instruction: 'Fix it' }

/** A session in which "Fix it" was answered at once, or with a question. */
async function fixed(id: string, at: number, { answer: said = 'It is fixed.', subject = null as string | null } = {}) {
  const call = sessionCall(id, { release: ReleaseId.parse('0123456789abcdef'), canary: null }, { at })
  const [question, answer] = call.part.nodes
  const nodes = [
    { ...present(question, 'the question'), message: { role: 'user', content: 'Fix it' } as const },
    { ...present(answer, 'the answer'), message: { role: 'assistant', content: said } as const },
  ]
  const [step] = call.part.steps
  const made: ModelCall = {
    id: call.part.call,
    choice: 0,
    model: 'm',
    upstream: 'u',
    servedModel: 'm',
    params: {},
    tools: null,
    finish: 'stop',
    usage: null,
    upstreamId: null,
    startedAt: at,
    firstTokenMs: null,
    totalMs: 1,
    retryOf: null,
  }
  const part = { ...call.part, nodes, steps: [{ ...present(step, 'the step'), call: made }] }
  await store.traffic.append({
    ...call,
    head: {
      ...call.head,
      origin: { ...call.head.origin, subject },
      task: { ...call.head.task, instruction: 'Fix it' },
    },
    part,
  })
}

it('judges by wording where nothing was recorded before', async () => {
  expect((await practice()).of(clear)).toBe(0)
})

it('reads what served before the canary, and nothing that came since', async () => {
  for (let i = 0; i < 9; i++) await fixed(`t_${i}`, 200 + i)
  const before = await practice()
  expect(before.of(clear)).toBe(0.9)
  for (let i = 0; i < 9; i++) await fixed(`u_${i}`, 2_000 + i)
  await fixed('old', 50)
  const later = await practice()
  expect([later.name, later.of(clear)]).toEqual([before.name, before.of(clear)])
  expect((await practice({ ...canary, id: 'c2' as Canary['id'] })).name).not.toBe(before.name)
})

it('reads a session that goes on after the canary began as it was then', async () => {
  for (let i = 0; i < 9; i++) await fixed(`t_${i}`, 200 + i)
  const before = await practice()
  for (let i = 0; i < 9; i++) {
    const more = sessionCall(`t_${i}`, { release: ReleaseId.parse('0123456789abcdef'), canary: null }, { at: 5_000 })
    const call = CallId.parse(`more-${i}`)
    await store.traffic.append({ ...more, head: { ...more.head, startedAt: 200 + i }, part: { ...more.part, call } })
  }
  const [changed] = await store.trajectories.summaries({ limit: 1 })
  expect(changed?.updatedAt).toBeGreaterThan(1_000)
  expect((await practice()).of(clear)).toBe(before.of(clear))
})

it('lets nobody bring more than their share', async () => {
  for (let i = 0; i < 30; i++) await fixed(`t_${i}`, 200 + i, { subject: `person-${i}` })
  const before = (await practice(canary, 'default', ['k'])).of(clear)
  expect(before).toBeGreaterThan(0.9)
  for (let i = 0; i < 90; i++) await fixed(`m_${i}`, 900 + i, { subject: 'mallory', answer: 'Which one?' })
  expect((await practice(canary, 'default', ['k'])).of(clear)).toBeGreaterThan(0.8)
})

it('leaves other agents and other tenants out', async () => {
  for (let i = 0; i < 9; i++) await fixed(`t_${i}`, 200 + i)
  expect((await practice({ ...canary, agent: 'another' })).of(clear)).toBe(0)
  expect((await practice(canary, 'acme')).of(clear)).toBe(0)
})
