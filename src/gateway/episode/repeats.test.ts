import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import {
  answerOf,
  called,
  contextOf,
  opened,
  recorderOver,
  recordIn,
  requestOf,
  type Saying,
  says,
  stored,
  TestClock,
} from './recorder.conformance.ts'
import type { ForgetfulRecorder } from './recorder-options.ts'

let store: Store
let recorder: ForgetfulRecorder
let clock: TestClock

beforeEach(async () => {
  store = await openMemoryStore()
  clock = new TestClock()
  recorder = recorderOver(store, { clock })
})
afterEach(async () => {
  await recorder.close()
  await store.close()
})

const restart = async () => {
  await recorder.close()
  recorder = recorderOver(store, { clock })
}
const request = requestOf([says('user', 'hello')], { n: 2 })
const keyed: Saying = { idempotencyKey: 'abc' }
const retried: Saying = { retry: 1 }
const again = (saying: Saying, asked = request) => recorder.begin(asked, contextOf(saying))
const fails = async (saying: Saying) => {
  const record = await opened(recorder, request, saying)
  await record.finish({ answer: null, stopReason: 'cancelled', failure: null })
  return record
}
const succeeds = async (saying: Saying) => {
  const record = await opened(recorder, request, saying)
  const said = {
    content: 'Let me look.',
    calls: [
      { id: 'call_a', name: 'find', arguments: '{"q":1}' },
      { name: 'find', arguments: '{"q":' },
    ],
  }
  await record.finish({ answer: answerOf([said, 'b']), stopReason: 'done', failure: null })
  return record
}
const countCalls = async () => {
  const all = await store.trajectories.list({ limit: 100 })
  return all.reduce((sum, { trajectory }) => sum + new Set(trajectory.steps.map(({ call }) => call?.id)).size, 0)
}

describe.each([
  ['by its idempotency key', keyed, keyed],
  ['by its SDK’s word', {}, retried],
])('a request repeated %s', (_, first, second) => {
  it.each([false, true])('gets the answer that it got, and makes no Decision (after a restart: %s)', async (after) => {
    const record = await succeeds(first)
    if (after) await restart()
    const replay = await again(second)
    expect(replay).toMatchObject({
      kind: 'replay',
      trajectory: record.trajectory,
      completion: {
        id: record.responseId,
        object: 'chat.completion',
        model: 'm-1',
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: 'Let me look.',
              tool_calls: [
                { id: 'call_a', type: 'function', function: { name: 'find', arguments: '{"q":1}' } },
                { type: 'function', function: { name: 'find', arguments: '{"q":' } },
              ],
            },
          },
          { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: 'b' } },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      },
    })
    expect(await again(second)).toEqual(replay)
    expect(await countCalls()).toBe(1)
  })

  it('waits while it is being answered', async () => {
    const record = await opened(recorder, request, first)
    expect(await again(second)).toEqual({ kind: 'in-flight', retryAfterSeconds: 1 })
    await record.finish({ answer: answerOf(['a', 'b']), stopReason: 'done', failure: null })
    expect(await again(second)).toMatchObject({ kind: 'replay' })
  })

  it('is answered when it was not, in the place of the one that failed', async () => {
    const failed = await fails(first)
    const record = await succeeds(second)
    expect(record.trajectory).toBe(failed.trajectory)
    const { steps, decisions, nodes } = await stored(store, record.trajectory)
    expect(steps.map(({ call }) => call?.retryOf)).toEqual([failed.call, failed.call])
    expect(decisions).toHaveLength(2)
    expect(nodes).toHaveLength(3)
    expect(await again(second)).toMatchObject({ kind: 'replay' })
  })

  it('is another’s where the key or the tenant is another', async () => {
    await succeeds(first)
    for (const other of [{ key: 'k2' }, { tenant: 'other' }]) {
      expect(await again({ ...second, ...other })).toMatchObject({ kind: 'call' })
    }
  })

  it('is forgotten after a while', async () => {
    await succeeds(first)
    clock.time += 25 * 3_600_000
    expect(await again(second)).toMatchObject({ kind: 'call' })
  })

  it('is not lost with the gateway that failed it', async () => {
    await fails(first)
    await restart()
    expect(await again(second)).toMatchObject({ kind: 'call' })
  })

  it('may be repeated again when the store failed it', async () => {
    const { store: broken, mend } = breakable(store)
    recorder = recorderOver(broken, { clock })
    const record = await opened(recorder, request, first)
    await expect(record.finish({ answer: answerOf(['a', 'b']), stopReason: 'done', failure: null })).rejects.toThrow(
      'disk',
    )
    mend()
    expect(recordIn(await again(second)).trajectory).toBe(record.trajectory)
  })
})

it('is another request where only the words are the same', async () => {
  const records = [await succeeds({}), await succeeds({})]
  expect(new Set(records.map(({ trajectory }) => trajectory)).size).toBe(2)
  expect(await countCalls()).toBe(2)
})

it('is the one that failed, of two with the same words', async () => {
  const [one, other] = [await opened(recorder, request), await opened(recorder, request)]
  await one.finish({ answer: answerOf(['a', 'b']), stopReason: 'done', failure: null })
  await other.finish({ answer: null, stopReason: 'model-error', failure: { code: 'x/y', message: 'z' } })
  const third = await succeeds(retried)
  expect(third.trajectory).toBe(other.trajectory)
})

it('belongs to its session', async () => {
  await succeeds({ session: 'a' })
  expect(await again({ ...retried, session: 'b' })).toMatchObject({ kind: 'call' })
  expect(await again({ ...retried, session: 'a' })).toMatchObject({ kind: 'replay' })
})

it('belongs to the person whom it is about', async () => {
  await succeeds({ subject: 'ann' })
  expect(await again({ ...retried, subject: 'bob' })).toMatchObject({ kind: 'call' })
  expect(await again({ ...retried, subject: 'ann' })).toMatchObject({ kind: 'replay' })
})

it.each([false, true])('an idempotency key is for one request (after a restart: %s)', async (after) => {
  const conflict = expect.objectContaining({ code: 'gateway/idempotency-conflict', status: 409 })
  const other = requestOf([says('user', 'something else')])
  const record = await opened(recorder, request, keyed)
  await expect(again(keyed, other)).rejects.toThrow(conflict)
  await record.finish({ answer: answerOf(['a', 'b']), stopReason: 'done', failure: null })
  if (after) await restart()
  await expect(again(keyed, other)).rejects.toThrow(conflict)
  expect(await again(keyed)).toMatchObject({ kind: 'replay' })
})

it('neither key nor body can be read in the store', async () => {
  const idempotencyKey = 'jo@example.org'
  const asked: unknown[] = []
  const { traffic } = store
  const watched: Store['traffic'] = {
    ...traffic,
    request: (key, tenant, identity) => (asked.push(identity), traffic.request(key, tenant, identity)),
    append: (call) => (asked.push(call.identity), traffic.append(call)),
  }
  recorder = recorderOver({ ...store, traffic: watched })
  await called(recorder, requestOf([says('user', 'x')]), 'hi', { idempotencyKey })
  expect(asked).toHaveLength(2)
  expect(JSON.stringify(asked)).not.toContain('jo@')
})

/** A store whose writes fail until it is mended. */
function breakable(whole: Store) {
  let isBroken = true
  const append: Store['traffic']['append'] = (call) =>
    isBroken ? Promise.reject(new Error('disk full')) : whole.traffic.append(call)
  return {
    store: { ...whole, traffic: { ...whole.traffic, append } },
    mend: () => {
      isBroken = false
    },
  }
}
