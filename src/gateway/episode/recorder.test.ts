import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readBy } from '../../../test/support/read-by.ts'
import type { Store } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { answerNode, readResponseId, trajectoryOfSession } from './ids.ts'
import {
  answerOf,
  called,
  opened,
  pathIn,
  recorderOver,
  requestOf,
  says,
  stored,
  turn,
} from './recorder.conformance.ts'
import type { ForgetfulRecorder } from './recorder-options.ts'

let store: Store
let recorder: ForgetfulRecorder

beforeEach(async () => {
  store = await openMemoryStore()
  recorder = recorderOver(store)
})
afterEach(async () => {
  await recorder.close()
  await store.close()
})

const hello = [says('system', 's'), says('user', 'hello')]
const textsOf = async (trajectory: Parameters<typeof stored>[1], node: Parameters<typeof pathIn>[1]) =>
  pathIn(await stored(store, trajectory), node).map(({ message }) => message.content)

describe('one call', () => {
  it('is a trajectory: what was read, what was said, and who decided it', async () => {
    const request = requestOf(hello, {
      temperature: 0.5,
      user: 'jo',
      tools: [{ type: 'function', function: { name: 'f' } }],
    })
    const { record, node } = await called(recorder, request, 'hi', { agent: 'support', subject: 'jo' })
    const trajectory = await stored(store, record.trajectory)
    expect(trajectory.origin).toEqual({
      kind: 'traffic',
      tenant: 'acme',
      key: 'k1',
      session: null,
      agent: 'support',
      subject: 'jo',
      train: true,
      servedBy: null,
    })
    expect(trajectory.task).toMatchObject({ id: `traffic:${record.trajectory}`, instruction: 'hello' })
    expect(trajectory.stopReason).toBe('done')
    expect(trajectory.nodes.map(({ message }) => [message.role, message.content])).toEqual([
      ['system', 's'],
      ['user', 'hello'],
      ['assistant', 'hi'],
    ])
    expect(pathIn(trajectory, node)).toEqual(trajectory.nodes)
    const [tools] = Object.keys(trajectory.toolsets)
    expect(trajectory.steps).toMatchObject([
      {
        action: node,
        observations: [],
        call: {
          id: record.call,
          choice: 0,
          model: 'm',
          upstream: 'up',
          servedModel: 'm-1',
          params: { temperature: 0.5 },
          tools,
          finish: 'stop',
          usage: { promptTokens: 3 },
          retryOf: null,
        },
      },
    ])
    const [decision] = trajectory.decisions
    expect(decision).toMatchObject({
      parameter: 'model',
      kind: 'weights',
      generation: 0,
      checkpoint: null,
      inputs: [trajectory.nodes[1]?.id],
      output: node,
      propensity: { log: null, reason: 'closed-api' },
    })
    expect((await store.versions.get(decision!.version))?.value).toMatchObject({ base: 'm', baseHash: 'up' })
    expect(readResponseId(record.responseId)).toEqual({
      trajectory: record.trajectory,
      call: record.call,
      node,
    })
  })

  it('with several answers has a step each, and counts its tokens once', async () => {
    const record = await opened(recorder, requestOf(hello, { n: 2 }))
    const committed = await record.finish({ answer: answerOf(['a', 'b']), stopReason: 'done', failure: null })
    const trajectory = await stored(store, record.trajectory)
    expect(committed).toEqual({ recorded: true, nodes: [answerNode(record.call, 0), answerNode(record.call, 1)] })
    expect(trajectory.steps.map(({ call }) => [call?.choice, call?.usage !== null])).toEqual([
      [0, true],
      [1, false],
    ])
    expect(trajectory.decisions.map(({ step, output }) => [step, output])).toEqual([
      [0, answerNode(record.call, 0)],
      [1, answerNode(record.call, 1)],
    ])
    expect(trajectory.nodes.filter(({ parent }) => parent === trajectory.nodes[1]?.id)).toHaveLength(2)
  })

  it('that nothing came of is kept as what was asked', async () => {
    const record = await opened(recorder, requestOf(hello))
    const failure = { code: 'model/down', message: 'no' }
    await record.finish({ answer: null, stopReason: 'model-error', failure })
    expect(await stored(store, record.trajectory)).toMatchObject({
      nodes: [{ message: { content: 's' } }, { message: { content: 'hello' } }],
      steps: [],
      decisions: [],
      stopReason: 'model-error',
      failure,
    })
  })

  it('with tools that servers outside OpenAI’s rules name can be read back', async () => {
    const tools = [{ type: 'function' as const, function: { name: '2fa.check', parameters: { type: 'object' } } }]
    const { record } = await called(recorder, requestOf(hello, { tools }), 'hi')
    expect(Object.values((await stored(store, record.trajectory)).toolsets)).toMatchObject([[{ name: '2fa.check' }]])
  })
})

describe('a conversation', () => {
  it('without a name is known again by a turn of ours', async () => {
    const first = await called(recorder, requestOf(hello), 'hi')
    const second = await called(recorder, requestOf([...hello, first.wire, says('user', 'more')]), 'yes')
    expect(second.record.trajectory).toBe(first.record.trajectory)
    expect(await textsOf(first.record.trajectory, second.node)).toEqual(['s', 'hello', 'hi', 'more', 'yes'])
    const trajectory = await stored(store, first.record.trajectory)
    expect(trajectory.nodes).toHaveLength(5)
    expect(readBy(trajectory.decisions[1]!, trajectory)).toEqual(trajectory.nodes.slice(0, 4))
  })

  it('takes bytes in the store as its turns do, and not as their square', async () => {
    const messages = [...hello]
    const bytes = [0]
    for (let turn = 1; turn <= 48; turn += 1) {
      const { record, wire } = await called(recorder, requestOf(messages), 'x'.repeat(50), { session: 'long' })
      messages.push(wire, says('user', `${turn}`.padStart(50)))
      if (turn % 16 === 0) bytes.push((await store.trajectories.size(record.trajectory))!.bytes)
    }
    const [first = 0, second = 0, third = 0] = bytes.slice(1).map((now, i) => now - (bytes[i] ?? 0))
    expect(second).toBeLessThan(1.05 * first)
    expect(third).toBeLessThan(1.05 * second)
  })

  it('that holds no turn of ours is a new one, however alike', async () => {
    const [one, other] = [
      await called(recorder, requestOf(hello), 'hi'),
      await called(recorder, requestOf(hello), 'hi'),
    ]
    const third = await called(recorder, requestOf([...hello, turn('something else'), says('user', 'more')]), 'yes')
    expect(new Set([one, other, third].map(({ record }) => record.trajectory)).size).toBe(3)
  })

  it('is recognised within its key and tenant only', async () => {
    const first = await called(recorder, requestOf(hello), 'hi', { session: null })
    const more = requestOf([...hello, first.wire, says('user', 'more')])
    const strangers = [
      await called(recorder, more, 'x', { key: 'k2' }),
      await called(recorder, more, 'x', { tenant: 'other' }),
      await called(recorder, more, 'x', { key: 'k2', tenant: 'other' }),
    ]
    for (const { record } of strangers) expect(record.trajectory).not.toBe(first.record.trajectory)
    expect((await called(recorder, more, 'x')).record.trajectory).toBe(first.record.trajectory)
  })

  it('of two people who begin alike is two, also after a restart', async () => {
    const [ann, bob] = [{ subject: 'ann' }, { subject: 'bob' }]
    const one = await called(recorder, requestOf(hello), 'hi', ann)
    const other = await called(recorder, requestOf(hello), 'hi', bob)
    const more = (text: string) => requestOf([...hello, one.wire, says('user', text)])
    for (const restarted of [recorder, recorderOver(store)]) {
      expect((await called(restarted, more('mine'), 'x', ann)).record.trajectory).toBe(one.record.trajectory)
      expect((await called(restarted, more('mine'), 'x', bob)).record.trajectory).toBe(other.record.trajectory)
      const stranger = await called(restarted, more('mine'), 'x', { subject: 'eve' })
      expect([one, other].map(({ record }) => record.trajectory)).not.toContain(stranger.record.trajectory)
    }
  })

  it('of many alike goes on where nothing follows yet, also while that is being answered', async () => {
    const one = await called(recorder, requestOf(hello), 'hi')
    const other = await called(recorder, requestOf(hello), 'hi')
    const more = (text: string) => requestOf([...hello, one.wire, says('user', text)])
    const [a, b] = [await opened(recorder, more('a')), await opened(recorder, more('b'))]
    expect(new Set([a.trajectory, b.trajectory])).toEqual(new Set([one.record.trajectory, other.record.trajectory]))
  })

  it('that is asked again has two answers side by side', async () => {
    const first = await called(recorder, requestOf(hello), 'hi')
    const more = requestOf([...hello, first.wire, says('user', 'more')])
    const [a, b] = [await called(recorder, more, 'a'), await called(recorder, more, 'b')]
    expect(b.record.trajectory).toBe(a.record.trajectory)
    const { nodes } = await stored(store, a.record.trajectory)
    expect(nodes).toHaveLength(6)
    const parentOf = (id: string) => nodes.find((node) => node.id === id)?.parent
    expect(parentOf(a.node)).toBe(parentOf(b.node))
  })

  it('whose turn the client changed has the changed one beside ours', async () => {
    const saying = { session: 'ticket' }
    const first = await called(recorder, requestOf(hello), 'hi there', saying)
    const second = await called(recorder, requestOf([...hello, turn('hi'), says('user', 'more')]), 'yes', saying)
    const trajectory = await stored(store, first.record.trajectory)
    const [, , edited] = pathIn(trajectory, second.node)
    expect(edited?.message.content).toBe('hi')
    expect(edited?.parent).toBe(trajectory.nodes.find(({ id }) => id === first.node)?.parent)
    expect(trajectory.steps.some(({ action }) => action === edited?.id)).toBe(false)
  })
})

describe('a session', () => {
  it('is one trajectory, whatever its requests have in common', async () => {
    const saying = { session: 'ticket 1' }
    const first = await called(recorder, requestOf(hello), 'hi', saying)
    const agent = await called(recorder, requestOf([says('system', 'sub'), says('user', 'find')]), 'found', saying)
    const compacted = await called(
      recorder,
      requestOf([says('system', 's'), says('user', 'so far: hello')]),
      'ok',
      saying,
    )
    expect(first.record.trajectory).toBe(trajectoryOfSession('acme', 'ticket 1'))
    for (const { record } of [agent, compacted]) expect(record.trajectory).toBe(first.record.trajectory)
    expect(await textsOf(first.record.trajectory, compacted.node)).toEqual(['s', 'so far: hello', 'ok'])
    const { nodes, steps } = await stored(store, first.record.trajectory)
    expect(nodes.filter(({ parent }) => parent === null)).toHaveLength(2)
    expect(steps).toHaveLength(3)
  })

  it('does not take turns from elsewhere', async () => {
    const elsewhere = await called(recorder, requestOf(hello), 'hi')
    const here = await called(recorder, requestOf([...hello, elsewhere.wire, says('user', 'x')]), 'y', { session: 'a' })
    expect(here.record.trajectory).toBe(trajectoryOfSession('acme', 'a'))
    expect(await textsOf(here.record.trajectory, here.node)).toEqual(['s', 'hello', 'hi', 'x', 'y'])
  })

  it('takes in nothing that does not name it', async () => {
    const named = await called(recorder, requestOf(hello), 'hi', { session: 'a' })
    const more = requestOf([...hello, named.wire, says('user', 'x')])
    for (const again of [false, true]) {
      if (again) recorder = recorderOver(store)
      const nameless = await called(recorder, more, 'y')
      expect(nameless.record.trajectory).not.toBe(named.record.trajectory)
    }
  })

  it('that forbade learning once stays forbidden', async () => {
    const saying = { session: 'a' }
    const { record } = await called(recorder, requestOf(hello), 'hi', { ...saying, train: false })
    await called(recorder, requestOf([...hello, turn('hi'), says('user', 'x')]), 'y', saying)
    expect((await stored(store, record.trajectory)).origin).toMatchObject({ train: false })
  })
})

it('goes on after a restart as if there had been none', async () => {
  const saying = { session: 'a' }
  const first = await called(recorder, requestOf(hello), 'hi', saying)
  const nameless = await called(recorder, requestOf(hello), 'hi')
  await recorder.close()
  recorder = recorderOver(store)
  const more = requestOf([...hello, first.wire, says('user', 'more')])
  const [second, other] = [await called(recorder, more, 'x', saying), await called(recorder, more, 'x')]
  expect(second.record.trajectory).toBe(first.record.trajectory)
  expect(other.record.trajectory).toBe(nameless.record.trajectory)
  for (const { record, node } of [second, other]) {
    expect((await stored(store, record.trajectory)).nodes).toHaveLength(5)
    expect(await textsOf(record.trajectory, node)).toEqual(['s', 'hello', 'hi', 'more', 'x'])
  }
})
