import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { PendingCall, RecordedCall, Store } from '../../core/index.ts'
import { openMemoryStore, StoreError } from '../../store/index.ts'
import type { Answer } from '../ports.ts'
import {
  answerOf,
  called,
  contextOf,
  opened,
  recorderOver,
  requestOf,
  type Said,
  says,
  stored,
  TestClock,
} from './recorder.conformance.ts'
import type { EpisodeRecorderOptions, ForgetfulRecorder } from './recorder-options.ts'
import { pseudonymOf, sessionPseudonym, redactionOf } from './redaction/index.ts'

let store: Store
let recorder: ForgetfulRecorder
const journalMs = 20
const config = { journalMs, idempotencyHours: 24, train: true }

beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(async () => {
  await recorder.close()
  await store.close()
})

const open = (options: Partial<EpisodeRecorderOptions> = {}) => {
  recorder = recorderOver(store, { config, ...options })
  return recorder
}
const hello = requestOf([says('user', 'hello')], { stream: true })
const half = (content: string): Answer => answerOf([{ content, finish: null }])
const whole = { answer: answerOf(['hello you']), stopReason: 'done' as const, failure: null }

/** The store, with what is written to it, and the means to hold it up. */
function watched() {
  const pending: PendingCall[] = []
  const log: string[] = []
  let gate: Promise<void> = Promise.resolve()
  const traffic: Store['traffic'] = {
    ...store.traffic,
    async savePending(call) {
      log.push('pending')
      await gate
      pending.push(call)
      await store.traffic.savePending(call)
      log.push('pending written')
    },
    async append(call: RecordedCall) {
      log.push('append')
      await store.traffic.append(call)
    },
  }
  return {
    store: { ...store, traffic },
    pending,
    log,
    hold: () => {
      let release = () => {}
      gate = new Promise((resolve) => {
        release = resolve
      })
      return release
    },
  }
}

describe('a stream', () => {
  it('that ends soon is written once', async () => {
    const { store, pending } = watched()
    const record = await opened(open({ store }), hello)
    record.progress(() => half('he'))
    await record.finish(whole)
    await delay(3 * journalMs)
    expect(pending).toEqual([])
  })

  it('is kept as it grows, and what was kept is forgotten when it is committed', async () => {
    const { store: seen, pending } = watched()
    const record = await opened(open({ store: seen }), hello)
    let text = ''
    const began = performance.now()
    while (pending.length < 3) {
      text += 'x'
      record.progress(() => half(text))
      await delay(2)
    }
    // The first after one pause, then one a pause; timers may be a millisecond early.
    expect(performance.now() - began).toBeGreaterThan(3 * (journalMs - 2))
    expect(pending.at(-1)).toMatchObject({
      call: record.call,
      head: { id: record.trajectory },
      part: { stopReason: 'interrupted', nodes: [{}, { message: { content: expect.stringMatching(/^x+$/) } }] },
    })
    await record.finish(whole)
    expect(await store.traffic.recoverPending(Number.MAX_SAFE_INTEGER)).toBe(0)
    expect((await stored(store, record.trajectory)).nodes).toHaveLength(2)
  })

  it('that stands still is kept too, and said to be alive', async () => {
    const { store, pending } = watched()
    const record = await opened(open({ store, config: { ...config, journalMs: 5 } }), hello)
    record.progress(() => half('he'))
    await vi.waitFor(() => expect(pending).toHaveLength(1))
    await delay(50)
    expect(pending).toHaveLength(1)
    await record.finish(whole)
  })

  it('is never written twice at once, and its end waits for what is being written', async () => {
    const { store, log, hold } = watched()
    const record = await opened(open({ store }), hello)
    const release = hold()
    record.progress(() => half('he'))
    await vi.waitFor(() => expect(log).toEqual(['pending']))
    record.progress(() => half('hel'))
    const finished = record.finish(whole)
    await delay(3 * journalMs)
    expect(log).toEqual(['pending'])
    release()
    await finished
    expect(log).toEqual(['pending', 'pending written', 'append'])
  })

  it('leaves its half answer when the process dies', async () => {
    const record = await opened(open(), hello)
    record.progress(() => half('hello y'))
    await delay(4 * journalMs)
    // What is left of a process that was killed is its store.
    const next = recorderOver(store, { config })
    await next.begin(requestOf([says('user', 'x')]), contextOf())
    expect(await stored(store, record.trajectory)).toMatchObject({
      stopReason: 'interrupted',
      nodes: [{ message: { content: 'hello' } }, { message: { content: 'hello y' } }],
      steps: [{ call: { id: record.call, finish: null } }],
    })
    await record.finish({ ...whole, answer: answerOf([{ content: 'hello y', finish: null }]) }).catch(() => {})
    await next.close()
  })

  it('of another gateway is left alone while there is news of it', async () => {
    const clock = new TestClock()
    const record = await opened(open({ clock }), hello)
    record.progress(() => half('hello y'))
    await delay(4 * journalMs)
    const next = recorderOver(store, { config, clock, exclusive: false })
    await delay(journalMs)
    expect(await store.trajectories.get(record.trajectory)).toBeNull()
    clock.time += 60_000
    const later = recorderOver(store, { config, clock, exclusive: false })
    await vi.waitFor(async () => expect(await store.trajectories.get(record.trajectory)).not.toBeNull())
    await next.close()
    await later.close()
  })

  it('goes on when what it says so far cannot be kept', async () => {
    const problems: unknown[] = []
    const savePending = () => Promise.reject(new Error('disk full'))
    const broken = { ...store, traffic: { ...store.traffic, savePending } }
    const record = await opened(open({ store: broken, onProblem: (error) => problems.push(error) }), hello)
    record.progress(() => half('he'))
    await vi.waitFor(() => expect(problems).toHaveLength(1))
    expect(await record.finish(whole)).toMatchObject({ recorded: true })
  })
})

describe('closing', () => {
  it('commits what is under way, as far as it came', async () => {
    const quiet = await opened(open(), hello)
    const loud = await opened(recorder, hello)
    loud.progress(() => half('hell'))
    await recorder.close()
    for (const [record, nodes] of [[quiet, 1] as const, [loud, 2] as const]) {
      const trajectory = await stored(store, record.trajectory)
      expect(trajectory).toMatchObject({ stopReason: 'cancelled' })
      expect(trajectory.nodes).toHaveLength(nodes)
      expect(await record.finish(whole)).toMatchObject({ recorded: true })
    }
    await expect(recorder.begin(hello, contextOf())).rejects.toMatchObject({
      code: 'gateway/shutting-down',
      status: 503,
    })
  })

  it('does not wait for a store that hangs', async () => {
    const append = () => new Promise<void>(() => {})
    await opened(open({ store: { ...store, traffic: { ...store.traffic, append } }, closeMs: 50 }), hello)
    await recorder.close()
  })
})

describe('a store that cannot write', () => {
  const failure = new StoreError({ code: 'store/disk-full', message: 'full', hint: 'h' })
  const broken = () => ({ ...store, traffic: { ...store.traffic, append: () => Promise.reject(failure) } })
  const blind = () => {
    const traffic = { ...store.traffic, turns: () => Promise.reject(failure), request: () => Promise.reject(failure) }
    return { ...store, traffic }
  }
  const known = requestOf([says('user', 'a'), { role: 'assistant', content: 'b' }, says('user', 'c')])

  it('fails the call where it must be recorded', async () => {
    const record = await opened(open({ store: broken() }), hello)
    await expect(record.finish(whole)).rejects.toBe(failure)
    recorder = recorderOver(blind(), { config })
    await expect(recorder.begin(known, contextOf())).rejects.toBe(failure)
    // The next try is not held up by the one that failed.
    await expect(recorder.begin(known, contextOf({ idempotencyKey: 'x' }))).rejects.toBe(failure)
    await expect(recorder.begin(known, contextOf({ idempotencyKey: 'x' }))).rejects.toBe(failure)
  })

  it('is told of where it need not be', async () => {
    const problems: unknown[] = []
    const options: Partial<EpisodeRecorderOptions> = { mode: 'best-effort', onProblem: (error) => problems.push(error) }
    const record = await opened(open({ store: broken(), ...options }), hello)
    expect(await record.finish(whole)).toEqual({ recorded: false, reason: 'store/disk-full' })
    // The client has its answer; it gets the same again.
    expect(await recorder.begin(hello, contextOf({ retry: 1 }))).toMatchObject({ kind: 'replay' })
    recorder = recorderOver(blind(), { config, ...options })
    expect(await recorder.begin(known, contextOf({ idempotencyKey: 'x' }))).toMatchObject({ kind: 'call' })
    expect(problems).toEqual([failure, failure, failure])
  })

  it('is given nothing that refers to what it does not have', async () => {
    let isBroken = true
    const append: Store['traffic']['append'] = (call) =>
      isBroken ? Promise.reject(failure) : store.traffic.append(call)
    const versions = {
      ...store.versions,
      put: (version: Parameters<Store['versions']['put']>[0]) =>
        isBroken ? Promise.reject(failure) : store.versions.put(version),
    }
    open({ store: { ...store, versions, traffic: { ...store.traffic, append } } })
    const saying = { session: 'x' }
    await expect(called(recorder, known, 'd', saying)).rejects.toBe(failure)
    isBroken = false
    const { record } = await called(recorder, known, 'd', saying)
    const { nodes, decisions } = await stored(store, record.trajectory)
    expect(nodes.map(({ message }) => message.content)).toEqual(['a', 'b', 'c', 'd'])
    expect(await store.versions.get(decisions[0]!.version)).not.toBeNull()
  })
})

describe('what must not be written', () => {
  const mail = 'jo@example.org'
  const redaction = redactionOf(['email', 'card'])

  it('is in nothing that reaches the store', async () => {
    const written: unknown[] = []
    const seen = watched()
    const { traffic } = seen.store
    const append: Store['traffic']['append'] = (call) => (written.push(call), traffic.append(call))
    open({ store: { ...store, traffic: { ...traffic, append } }, redaction })
    const asked = requestOf([says('system', mail), { role: 'user', content: `I am ${mail}`, name: mail }], {
      tools: [{ type: 'function', function: { name: 'f', description: mail, parameters: { [mail]: mail } } }],
      stop: [mail],
      prediction: { content: mail },
    })
    const record = await opened(recorder, asked, { session: mail, agent: mail, subject: mail })
    const said: Said = { content: mail, calls: [{ id: 'c', name: 'f', arguments: `{"${mail}":"${mail}"}` }] }
    record.progress(() => answerOf([{ ...said, finish: null }], { promptTokens: [1] }))
    await vi.waitFor(() => expect(seen.pending).toHaveLength(1))
    const failed = { code: 'x/y', message: `about ${mail}` }
    await record.finish({ answer: answerOf([said], { promptTokens: [1] }), stopReason: 'model-error', failure: failed })
    expect(written).toHaveLength(1)
    expect(JSON.stringify([written, seen.pending])).not.toContain('jo@')
    expect(await stored(store, record.trajectory)).toMatchObject({
      task: { instruction: 'I am [email]' },
      origin: { subject: pseudonymOf('acme', mail), session: sessionPseudonym('acme', mail) },
      failure: { message: 'about [email]' },
    })
    expect(pseudonymOf('acme', mail)).not.toBe(pseudonymOf('other', mail))
  })

  it('is not kept by halves', async () => {
    const seen = watched()
    open({ store: seen.store, redaction })
    const begun = 'The number is 4111 1111 1111 11'
    const record = await opened(recorder, hello)
    record.progress(() => half(`${'x'.repeat(100)} ${begun}`))
    await vi.waitFor(() => expect(seen.pending).toHaveLength(1))
    await record.finish({ answer: half(`${'x'.repeat(100)} ${begun}`), stopReason: 'cancelled', failure: null })
    const kept = JSON.stringify([seen.pending, await stored(store, record.trajectory)])
    expect(kept).toContain('xxx')
    expect(kept).not.toContain('4111')
  })

  it('is late three times in a request at most: then nothing more of it is written, nor of its answer', async () => {
    const late: string[] = []
    open({ redaction: redactionOf([{ name: 'slow', pattern: '\\d+\\d+x' }], { onUnread: () => late.push('late') }) })
    const said = Array.from({ length: 6 }, (_, i) => says('user', String(i).repeat(12_000)))
    const asked = requestOf([says('user', 'first'), ...said], { stop: ['stopped'] })
    const first = await called(recorder, asked, `answer ${'7'.repeat(12_000)}`)
    expect(late).toHaveLength(3)
    const { nodes, steps } = await stored(store, first.record.trajectory)
    expect(nodes.map(({ message }) => message.content)).toEqual(['first', ...said.map(() => '[unread]'), '[unread]'])
    expect(JSON.stringify(steps)).not.toContain('stopped')
    const second = await called(recorder, requestOf([...asked.messages, first.wire, says('user', 'more')]), 'yes')
    expect(second.record.trajectory).toBe(first.record.trajectory)
    expect(late).toHaveLength(6)
  })

  it('may be late in halves of an answer, and the whole answer is read by itself', async () => {
    const seen = watched()
    const late: string[] = []
    const redaction = redactionOf([{ name: 'slow', pattern: '\\d+\\d+x' }], { onUnread: () => late.push('late') })
    open({ store: seen.store, redaction })
    const record = await opened(recorder, hello)
    record.progress(() => answerOf(['1', '2', '3'].map((one) => ({ content: one.repeat(12_000), finish: null }))))
    await vi.waitFor(() => expect(seen.pending).toHaveLength(1), 10_000)
    expect(late).toHaveLength(3)
    await record.finish(whole)
    const { nodes } = await stored(store, record.trajectory)
    expect(nodes.at(-1)?.message.content).toBe('hello you')
  })

  it('does not keep a conversation from being known again', async () => {
    open({ redaction })
    const first = await called(recorder, requestOf([says('user', `I am ${mail}`)]), `Hello ${mail}`)
    const history = [says('user', `I am ${mail}`), first.wire, says('user', 'more')]
    const second = await called(recorder, requestOf(history), 'yes')
    expect(second.record.trajectory).toBe(first.record.trajectory)
    expect((await stored(store, first.record.trajectory)).nodes).toHaveLength(4)
  })
})

it('forgets when it is told to, and knows again what the store knows', async () => {
  open()
  const first = await called(recorder, requestOf([says('user', 'a')]), 'b')
  await store.trajectories.remove({ tenant: 'acme' }, { dryRun: false })
  recorder.forget()
  const history = requestOf([says('user', 'a'), first.wire, says('user', 'c')])
  const second = await called(recorder, history, 'd')
  expect(second.record.trajectory).not.toBe(first.record.trajectory)
  expect((await stored(store, second.record.trajectory)).nodes).toHaveLength(4)
  recorder.forget()
  const third = await called(recorder, requestOf([...history.messages, second.wire, says('user', 'e')]), 'f')
  expect(third.record.trajectory).toBe(second.record.trajectory)
})
