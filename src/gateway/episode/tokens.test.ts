import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Store, Trajectory, type WireMessage } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import {
  answerOf,
  called,
  opened,
  pathIn,
  recorderOver,
  requestOf,
  says,
  stored,
  tokensAlong,
  turn,
} from './recorder.conformance.ts'
import type { ForgetfulRecorder } from './recorder-options.ts'
import { redactionOf } from './redaction/index.ts'

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

const restart = async () => {
  await recorder.close()
  recorder = recorderOver(store)
}
const first = [says('system', 's'), says('user', 'a')]
const hi = { content: 'hi', tokens: [5, 6], behaviourLogprobs: [-0.25, -0.25] }
/** A first call, whose prompt is 1 2 3. */
const begin = (answer: object = hi, more: object = {}, messages: readonly WireMessage[] = first) =>
  called(recorder, requestOf(messages, more), answer, { answer: { promptTokens: [1, 2, 3] } })
const next = [...first, turn('hi'), says('user', 'b')]

describe('the tokens along a branch', () => {
  it('are what the policy read and sampled', async () => {
    const one = await begin()
    const two = await called(
      recorder,
      requestOf(next),
      { content: 'yes', tokens: [9] },
      {
        answer: { promptTokens: [1, 2, 3, 5, 6, 7, 8] },
      },
    )
    const trajectory = await stored(store, one.record.trajectory)
    expect(pathIn(trajectory, two.node).map(({ spans }) => spans)).toEqual([
      [],
      [{ kind: 'encoded', tokens: [1, 2, 3] }],
      [
        {
          kind: 'sampled',
          tokens: [5, 6],
          logprobs: [-0.5, -0.5],
          behaviourLogprobs: [-0.25, -0.25],
          sampling: { temperature: 1, truncated: false },
        },
      ],
      [{ kind: 'encoded', tokens: [7, 8] }],
      [expect.objectContaining({ kind: 'sampled', tokens: [9] })],
    ])
    expect(trajectory.decisions.map(({ propensity }) => propensity.log)).toEqual([-0.5, -0.5])
  })

  it('part where a template rendered a turn of ours anew', async () => {
    const one = await begin()
    // The turn came back as 5 0, not as 5 6.
    const prompt = [1, 2, 3, 5, 0, 7, 8]
    const two = await called(
      recorder,
      requestOf(next),
      { content: 'yes', tokens: [9] },
      { answer: { promptTokens: prompt } },
    )
    const more = [...next, turn('yes'), says('user', 'c')]
    await restart()
    const three = await called(
      recorder,
      requestOf(more),
      { content: 'no', tokens: [4] },
      {
        answer: { promptTokens: [...prompt, 9, 10] },
      },
    )
    const trajectory = await stored(store, one.record.trajectory)
    const path = pathIn(trajectory, two.node)
    expect(path.map(({ message }) => message.content)).toEqual(['s', 'a', 'hi', 'b', 'yes'])
    expect(tokensAlong(path)).toEqual([...prompt, 9])
    // The copy stands beside the turn that was sampled, which keeps its tokens.
    expect(path[2]?.id).not.toBe(one.node)
    expect(path[2]?.parent).toBe(trajectory.nodes.find(({ id }) => id === one.node)?.parent)
    expect(tokensAlong(pathIn(trajectory, three.node))).toEqual([...prompt, 9, 10, 4])
    expect(pathIn(trajectory, three.node).map(({ id }) => id)).toContain(two.node)
  })

  it('part at the root where nothing is as it was', async () => {
    const one = await begin()
    const prompt = [100, 101]
    const two = await called(
      recorder,
      requestOf(next),
      { content: 'x', tokens: [9] },
      { answer: { promptTokens: prompt } },
    )
    const trajectory = await stored(store, one.record.trajectory)
    expect(tokensAlong(pathIn(trajectory, two.node))).toEqual([...prompt, 9])
    expect(pathIn(trajectory, two.node).map(({ message }) => message.content)).toEqual(['s', 'a', 'hi', 'b', 'x'])
    // What carries no tokens is shared even so.
    expect(trajectory.nodes.filter(({ message }) => message.content === 's')).toHaveLength(1)
  })

  it('go on after turns of which nobody told any', async () => {
    const one = await called(recorder, requestOf(first), 'hi')
    const prompt = [1, 2, 3, 4]
    const two = await called(
      recorder,
      requestOf(next),
      { content: 'x', tokens: [9] },
      { answer: { promptTokens: prompt } },
    )
    const three = await called(recorder, requestOf([...next, turn('x'), says('user', 'c')]), 'y')
    const trajectory = await stored(store, one.record.trajectory)
    expect(pathIn(trajectory, three.node).map(({ id }) => id)).toEqual(
      expect.arrayContaining([one.node, two.node, three.node]),
    )
    expect(tokensAlong(pathIn(trajectory, two.node))).toEqual([1, 2, 3, 4, 9])
    expect(tokensAlong(pathIn(trajectory, three.node))).toEqual([1, 2, 3, 4, 9])
  })

  it('stand on the answer where no message is new', async () => {
    const one = await begin({ ...hi, finish: 'length' })
    const two = await called(
      recorder,
      requestOf([...first, turn('hi')]),
      { content: ' there', tokens: [9] },
      {
        answer: { promptTokens: [1, 2, 3, 5, 6, 7] },
      },
    )
    const path = pathIn(await stored(store, one.record.trajectory), two.node)
    expect(path.map(({ id }) => id).slice(2)).toEqual([one.node, two.node])
    expect(tokensAlong(path)).toEqual([1, 2, 3, 5, 6, 7, 9])
    // Client and model agree that this is one turn.
    const three = await called(recorder, requestOf([...first, turn('hi there'), says('user', 'b')]), 'x')
    expect(pathIn(await stored(store, one.record.trajectory), three.node).map(({ id }) => id)).toContain(two.node)
  })

  it('are shared by answers to the same question', async () => {
    const saying = { session: 'x', answer: { promptTokens: [1, 2, 3] } }
    const one = await called(recorder, requestOf(first), hi, saying)
    await restart()
    const two = await called(recorder, requestOf(first), hi, saying)
    const { nodes } = await stored(store, one.record.trajectory)
    expect(nodes).toHaveLength(4)
    expect(two.record.trajectory).toBe(one.record.trajectory)
  })

  it('lead up to where a client changed a turn of a session', async () => {
    const session = { session: 'x' }
    const one = await called(recorder, requestOf(first), hi, { ...session, answer: { promptTokens: [1, 2, 3] } })
    await restart()
    const edited = [...first, turn('ho'), says('user', 'b')]
    const prompt = [1, 2, 3, 11, 12]
    const two = await called(
      recorder,
      requestOf(edited),
      { content: 'x', tokens: [9] },
      {
        ...session,
        answer: { promptTokens: prompt },
      },
    )
    const trajectory = await stored(store, one.record.trajectory)
    const path = pathIn(trajectory, two.node)
    expect(tokensAlong(path)).toEqual([...prompt, 9])
    expect(path[2]?.parent).toBe(trajectory.nodes.find(({ id }) => id === one.node)?.parent)
  })

  it('are not kept of a call in which anything was redacted', async () => {
    recorder = recorderOver(store, { redaction: redactionOf(['email']) })
    const one = await begin({ content: 'write to jo@example.org', tokens: [5, 6] })
    const history = [...first, one.wire, says('user', 'b')]
    const open = await opened(recorder, requestOf(history))
    expect(open.history).toBeNull()
    const promptTokens = [1, 2, 3, 5, 6, 7]
    await open.finish({
      answer: answerOf([{ content: 'x', tokens: [9] }], { promptTokens }),
      stopReason: 'done',
      failure: null,
    })
    const trajectory = await stored(store, one.record.trajectory)
    expect(trajectory.nodes.map(({ message, spans }) => [message.content, spans.length])).toEqual([
      ['s', 0],
      ['a', 1],
      ['write to [email]', 0],
      ['b', 0],
      ['x', 0],
    ])
    expect(trajectory.decisions.map(({ propensity }) => propensity.log)).toEqual([-1, -0.5])
  })

  it('are not kept where something else that the prompt is rendered by must not be written', async () => {
    recorder = recorderOver(store, { redaction: redactionOf(['email']) })
    const { record } = await begin(hi, { documents: [{ text: `${'x'.repeat(20_000)} jo@example.org` }] })
    const { nodes } = await stored(store, record.trajectory)
    expect(nodes.flatMap(({ spans }) => spans)).toEqual([])
  })

  it('can be read back whatever an upstream says of them', async () => {
    const { record } = await begin({ content: 'hi', tokens: [5, 6], logprobs: [1e-5, Number.NaN] })
    expect(Trajectory.safeParse(await stored(store, record.trajectory)).success).toBe(true)
  })
})

describe('the history that goes to the upstream', () => {
  const historyOf = async (messages: readonly WireMessage[], more: object = {}) =>
    (await opened(recorder, requestOf(messages, more))).history

  it.each([false, true])('is what was read and sampled, up to our last turn (after a restart: %s)', async (again) => {
    await begin()
    if (again) await restart()
    expect(await historyOf(next)).toEqual({ messages: 3, tokens: [1, 2, 3, 5, 6], closedTurn: true })
  })

  it('knows a turn that was cut off', async () => {
    await begin({ ...hi, finish: 'length' })
    expect(await historyOf(next)).toMatchObject({ closedTurn: false })
  })

  it('takes the upstream’s word for whether the turn was closed', async () => {
    await begin({ ...hi, closedTurn: false }, { stop: 'x' })
    expect(await historyOf(next)).toMatchObject({ closedTurn: false })
  })

  it.each([
    ['a stop sequence may have ended the turn', hi, { stop: ['x'] }, next, {}],
    ['no tokens were told', 'hi', {}, next, {}],
    ['the answer was not ended', { ...hi, finish: null }, {}, next, {}],
    ['another model is asked', hi, {}, next, { model: 'other' }],
    ['other tools are shown', hi, {}, next, { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['the template is told otherwise', hi, {}, next, { chat_template_kwargs: { enable_thinking: false } }],
    ['the last turn is not ours', hi, {}, [...next, turn('not ours'), says('user', 'c')], {}],
    ['the conversation is new', hi, {}, first, {}],
  ])('is not known where %s', async (_, answer, more, messages, later) => {
    const { record } = await begin(typeof answer === 'string' ? { content: answer } : answer, more)
    expect(await historyOf(messages, later)).toBeNull()
    expect(record.history).toBeNull()
  })
})
