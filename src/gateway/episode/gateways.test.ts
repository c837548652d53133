import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Store, WireMessage } from '../../core/index.ts'
import { openMemoryStore, openStore } from '../../store/index.ts'
import { makeTestDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import {
  answerOf,
  called,
  contextOf,
  opened,
  pathIn,
  recorderOver,
  requestOf,
  type Saying,
  says,
  stored,
  TestClock,
} from './recorder.conformance.ts'
import { identityOf } from './repeats.ts'

/** Several gateways share a store, and a client's requests meet any of them. */
describe.each(['SQLite', 'PostgreSQL'])('two gateways on %s', (kind) => {
  let database: TestDatabase | null = null
  let store: Store
  beforeAll(async () => {
    if (kind === 'PostgreSQL') {
      database = await makeTestDatabase()
      store = await openStore({ url: database.url })
    } else {
      store = await openMemoryStore()
    }
  })
  afterAll(async () => {
    await store.close()
    await database?.drop()
  })

  const two = () => [recorderOver(store, { exclusive: false }), recorderOver(store, { exclusive: false })] as const

  it.each<[string, Saying]>([
    ['with a name', { session: 'a' }],
    ['without a name', {}],
  ])('record one conversation %s, call by call', async (_, saying) => {
    const [one, other] = two()
    const messages: WireMessage[] = [says('system', 's'), says('user', 'hello')]
    const nodes: string[] = []
    let prompt = [1, 2, 3]
    for (let i = 0; i < 6; i += 1) {
      const answer = { content: `answer ${i}`, tokens: [100 + i] }
      const asked = requestOf(messages)
      const call = await called(i % 2 === 0 ? one : other, asked, answer, {
        ...saying,
        answer: { promptTokens: prompt },
      })
      expect(call.record.history?.tokens ?? []).toEqual(i === 0 ? [] : prompt.slice(0, -1))
      nodes.push(call.node)
      messages.push(call.wire, says('user', `more ${i}`))
      prompt = [...prompt, 100 + i, 200 + i]
      const trajectory = await stored(store, call.record.trajectory)
      expect(trajectory.nodes).toHaveLength(messages.length - 1)
      const ours = pathIn(trajectory, call.node).filter(({ message }) => message.role === 'assistant')
      expect(ours.map(({ id }) => id)).toEqual(nodes)
    }
    for (const recorder of [one, other]) await recorder.close()
  })

  it('share what they read, also at once', async () => {
    const [one, other] = two()
    const asked = requestOf([says('system', 's'), says('user', 'hello')])
    const saying = { session: 'b' }
    const calls = await Promise.all([called(one, asked, 'x', saying), called(other, asked, 'y', saying)])
    const { nodes, steps } = await stored(store, calls[0].record.trajectory)
    expect(nodes).toHaveLength(4)
    expect(steps).toHaveLength(2)
    for (const recorder of [one, other]) await recorder.close()
  })

  it('know what the other has answered', async () => {
    const [one, other] = two()
    const asked = requestOf([says('user', 'once')])
    const { record } = await called(one, asked, 'x', { idempotencyKey: 'k' })
    expect(await other.begin(asked, contextOf({ idempotencyKey: 'k' }))).toMatchObject({
      kind: 'replay',
      completion: { id: record.responseId },
    })
    for (const recorder of [one, other]) await recorder.close()
  })

  it('ask once for a request that reaches both at the same moment', async () => {
    for (let round = 0; round < 10; round += 1) {
      const gateways = two()
      const asked = requestOf([says('user', `at once ${round}`)])
      const context = contextOf({ idempotencyKey: `at once ${round}` })
      const begun = await Promise.all(gateways.map((gateway) => gateway.begin(asked, context)))
      const calls = begun.flatMap((one) => (one.kind === 'call' ? [one.record] : []))
      expect(calls).toHaveLength(1)
      const [told] = begun.flatMap((one) => (one.kind === 'in-flight' ? [one.retryAfterSeconds] : []))
      expect(told).toBeGreaterThanOrEqual(1)
      expect(told).toBeLessThanOrEqual(9)
      await calls[0]?.finish({ answer: answerOf(['x']), stopReason: 'done', failure: null })
      for (const gateway of gateways) expect((await gateway.begin(asked, context)).kind).toBe('replay')
      for (const gateway of gateways) await gateway.close()
    }
  })

  it('know that an idempotency key came with another body, while the other one answers', async () => {
    const [one, other] = two()
    await opened(one, requestOf([says('user', 'this')]), { idempotencyKey: 'mixed' })
    const wrong = other.begin(requestOf([says('user', 'that')]), contextOf({ idempotencyKey: 'mixed' }))
    await expect(wrong).rejects.toMatchObject({ code: 'gateway/idempotency-conflict' })
    for (const gateway of [one, other]) await gateway.close()
  })

  it('know what the other one has been at for a while, where an SDK repeats it', async () => {
    const [one, other] = two()
    const asked = requestOf([says('user', 'slow')])
    const record = await opened(one, asked, { key: 'sdk' })
    const { key, body } = identityOf(asked, contextOf({ key: 'sdk' }))
    const claimed = { tenant: 'acme', apiKey: 'sdk', identity: { key, body } }
    const probe = () => store.claims.take(claimed, 'probe', { now: 0, ttlMs: 0 })
    await vi.waitFor(async () => expect(await probe()).not.toBeNull(), { timeout: 5_000 })
    const again = contextOf({ key: 'sdk', retry: 1 })
    expect((await other.begin(asked, again)).kind).toBe('in-flight')
    await record.finish({ answer: answerOf(['x']), stopReason: 'done', failure: null })
    expect((await other.begin(asked, again)).kind).toBe('replay')
    for (const gateway of [one, other]) await gateway.close()
  })

  it('ask again at once where the other one got no answer', async () => {
    const [one, other] = two()
    const asked = requestOf([says('user', 'in vain')])
    const context = { idempotencyKey: 'in vain' }
    const record = await opened(one, asked, context)
    await record.finish({ answer: null, stopReason: 'cancelled', failure: null })
    await one.close()
    expect((await other.begin(asked, contextOf(context))).kind).toBe('call')
    await other.close()
  })

  it('ask again when the one that was at it is dead', async () => {
    const clock = new TestClock()
    const [dead, other] = [recorderOver(store, { exclusive: false }), recorderOver(store, { exclusive: false, clock })]
    const asked = requestOf([says('user', 'and then it died')])
    const context = { idempotencyKey: 'died' }
    await opened(dead, asked, context)
    expect((await other.begin(asked, contextOf(context))).kind).toBe('in-flight')
    clock.time += 60_000
    expect((await other.begin(asked, contextOf(context))).kind).toBe('call')
    for (const gateway of [dead, other]) await gateway.close()
  })
})

it('a gateway that is alone on its store writes no claims', async () => {
  const store = await openMemoryStore()
  const refuse = () => Promise.reject(new Error('a claim'))
  const claims = { take: refuse, renew: refuse, release: refuse }
  const recorder = recorderOver({ ...store, claims }, { exclusive: true })
  const asked = requestOf([says('user', 'hello')])
  await called(recorder, asked, 'x', { idempotencyKey: 'alone' })
  const slow = await opened(recorder, asked)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await slow.finish({ answer: answerOf(['x']), stopReason: 'done', failure: null })
  await recorder.close()
  await store.close()
})
