import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Store, WireMessage } from '../../core/index.ts'
import { openMemoryStore, openStore } from '../../store/index.ts'
import { makeTestDatabase, type TestDatabase } from '../../../test/support/postgres.ts'
import {
  called,
  contextOf,
  pathIn,
  recorderOver,
  requestOf,
  type Saying,
  says,
  stored,
} from './recorder.conformance.ts'

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
})
