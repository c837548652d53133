import { readBy } from '../../../test/support/read-by.ts'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  messagesOf,
  type Message,
  type NodeId,
  type Store,
  type Trajectory,
  type WireMessage,
} from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import type { CallRecord } from '../ports.ts'
import { trajectoryOfSession } from './ids.ts'
import {
  answerOf,
  choiceOf,
  countingIds,
  opened,
  pathIn,
  recorderOver,
  requestOf,
  type Said,
  type Saying,
  says,
  TestClock,
  tokensAlong,
  wireOf,
} from './recorder.conformance.ts'

/**
 * Agents as they are: conversations that go on, are asked again, retried, edited, compacted, split off to sub-agents, many
 * of them with the very same words; recorded, and put together from the store.
 */

const callers = [
  { tenant: 'x', key: 'k1' },
  { tenant: 'x', key: 'k2' },
  { tenant: 'y', key: 'k1' },
]

/** Few words, so that conversations are often alike. */
const text = fc.constantFrom('a', 'a', '')
/** How much the upstream tells: nothing, the tokens of a template that keeps what was sampled, or of one that does not. */
const tells = fc.constantFrom('nothing', 'exact', 'rewritten')
const answer = fc.record({ says: text, calls: fc.constantFrom(false, false, true), tells })
const which = fc.nat(5)
const session = fc.constantFrom(null, null, 's')
const step = fc.oneof(
  fc.record({ do: fc.constant('start'), caller: fc.nat(2), session, says: text, answer }),
  fc.record({
    do: fc.constantFrom('go on', 'go on', 'edit', 'ask again', 'retry', 'compact', 'fail'),
    which,
    says: text,
    answer,
  }),
  fc.record({ do: fc.constant('at once'), which, other: which, says: text, answer }),
  fc.record({ do: fc.constant('restart') }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Answered = typeof answer extends fc.Arbitrary<infer T> ? T : never

interface Conversation {
  readonly saying: Saying
  history: WireMessage[]
  /** What was asked last. */
  asked: WireMessage[]
}

interface Call {
  readonly saying: Saying
  readonly record: CallRecord
  readonly asked: readonly WireMessage[]
  readonly said: Said | null
  readonly prompt: readonly number[] | null
  readonly node: NodeId | null
}

const codes = (message: WireMessage) =>
  Array.from(JSON.stringify(message), (character) => character.codePointAt(0) ?? 0)
const [begins, ends] = [900, 901]

/** What a template makes of a conversation; one that rewrites history shows earlier turns otherwise than sampled. */
function rendered(messages: readonly WireMessage[], rewritten: boolean): number[] {
  return [
    ...messages.flatMap((message) =>
      message.role === 'assistant'
        ? [begins, ...codes(message).map((code) => code + (rewritten ? 1_000 : 0)), ends]
        : codes(message),
    ),
    begins,
  ]
}

interface Playing {
  /** Tells runs apart that share a store. */
  readonly run: number
  readonly restarts: boolean
  /** No two answers are alike: of twins, either may be the one that a conversation goes on from. */
  readonly distinct?: boolean
  readonly memoryBytes?: number
}

async function play(store: Store, steps: readonly Step[], options: Playing) {
  const ids = countingIds(options.run * 1_000)
  const clock = new TestClock()
  clock.now = () => clock.time
  const memory = options.memoryBytes === undefined ? {} : { memoryBytes: options.memoryBytes }
  const open = () => recorderOver(store, { ids, clock, ...memory })
  let recorder = open()
  const conversations: Conversation[] = []
  const calls: Call[] = []
  let made = 0

  const begin = async (conversation: Conversation, more: Saying = {}) => {
    clock.time += 1_000
    conversation.asked = [...conversation.history]
    return opened(recorder, requestOf(conversation.asked), { ...conversation.saying, ...more })
  }
  const finish = async (conversation: Conversation, record: CallRecord, given: Answered | null) => {
    const { asked } = conversation
    if (given === null) {
      await record.finish({ answer: null, stopReason: 'cancelled', failure: null })
      calls.push({ saying: conversation.saying, record, asked, said: null, prompt: null, node: null })
      return
    }
    const call = given.calls ? [{ id: `call_${given.says}`, name: 'f', arguments: '{"q":1}' }] : []
    const content = options.distinct ? `${given.says}${calls.length}` : given.says
    const plain: Said = { content, calls: call }
    const wire = wireOf(choiceOf(plain).message)
    const prompt = given.tells === 'nothing' ? null : rendered(asked, given.tells === 'rewritten')
    const said: Said = prompt ? { ...plain, tokens: [...codes(wire), ends] } : plain
    const committed = await record.finish({
      answer: answerOf([said], { promptTokens: prompt }),
      stopReason: 'done',
      failure: null,
    })
    calls.push({
      saying: conversation.saying,
      record,
      asked,
      said,
      prompt,
      node: committed.recorded ? (committed.nodes[0] ?? null) : null,
    })
    conversation.history = [...asked, wire]
    for (const { id } of call) conversation.history.push({ role: 'tool', tool_call_id: id, content: 'r' })
  }
  const goOn = (conversation: Conversation, words: string) => {
    if (conversation.history.at(-1)?.role !== 'tool') conversation.history.push(says('user', words))
  }

  for (const step of steps) {
    const at = (index: number) => conversations[index % Math.max(1, conversations.length)]
    switch (step.do) {
      case 'restart': {
        if (!options.restarts) break
        await recorder.close()
        recorder = open()
        break
      }
      case 'start': {
        const { tenant, key } = callers[step.caller]!
        const saying = { tenant: `${tenant}${options.run}`, key, session: step.session }
        const conversation = { saying, asked: [], history: [says('system', 's'), says('user', step.says)] }
        conversations.push(conversation)
        await finish(conversation, await begin(conversation), step.answer)
        break
      }
      case 'at once': {
        const [one, other] = [at(step.which), at(step.other)]
        if (!one || !other || one === other) break
        goOn(one, step.says)
        goOn(other, step.says)
        const [first, second] = [await begin(one), await begin(other)]
        await finish(other, second, step.answer)
        await finish(one, first, step.answer)
        break
      }
      case 'go on':
      case 'edit':
      case 'ask again':
      case 'retry':
      case 'compact':
      case 'fail': {
        const conversation = at(step.which)
        if (!conversation) break
        if (step.do === 'compact') {
          conversation.history = [says('system', 's'), says('user', `so far: ${step.says}`)]
        } else if (step.do === 'ask again') {
          conversation.history = conversation.asked
        } else {
          if (step.do === 'edit') {
            conversation.history = conversation.history.map((message) =>
              message.role === 'assistant' ? { ...message, content: `${JSON.stringify(message.content)}!` } : message,
            )
          }
          goOn(conversation, step.says)
        }
        // Words of its own: who repeats a request repeats this one.
        if (step.do === 'retry') conversation.history.push(says('user', `try ${(made += 1)}`))
        const record = await begin(conversation)
        if (step.do === 'fail' || step.do === 'retry') await finish(conversation, record, null)
        else await finish(conversation, record, step.answer)
        if (step.do === 'retry') await finish(conversation, await begin(conversation, { retry: 1 }), step.answer)
      }
    }
  }
  await recorder.close()
  return calls
}

const shown = (messages: readonly Message[]) =>
  messages.map((message) => [message.role, message.content, message.role === 'assistant' ? message.toolCalls : null])

const recordedIn = async (store: Store, run: number) => [
  ...(await store.trajectories.list({ tenant: `x${run}`, limit: 1_000 })),
  ...(await store.trajectories.list({ tenant: `y${run}`, limit: 1_000 })),
]

async function holds(store: Store, run: number, calls: readonly Call[]): Promise<void> {
  const recorded = await recordedIn(store, run)
  const trajectories = new Map<string, Trajectory>(recorded.map(({ trajectory }) => [trajectory.id, trajectory]))
  const answered = calls.filter(({ node }) => node !== null)
  // Every answer is there, once.
  const actions = recorded.flatMap(({ trajectory }) => trajectory.steps.map(({ action }) => action))
  expect(new Set(actions)).toEqual(new Set(answered.map(({ node }) => node)))
  expect(actions).toHaveLength(answered.length)
  const decided = recorded.flatMap(({ trajectory }) => trajectory.decisions)
  expect(decided).toHaveLength(actions.length)

  for (const { saying, record, asked, said, prompt, node } of calls) {
    const trajectory = trajectories.get(record.trajectory)!
    expect(trajectory.origin).toMatchObject({ tenant: saying.tenant, session: saying.session })
    if (saying.session) expect(trajectory.id).toBe(trajectoryOfSession(saying.tenant!, saying.session))
    else expect(trajectory.origin).toMatchObject({ key: saying.key })
    if (node === null || said === null) continue
    // What was read and said is the path to it, and its tokens are those of the path.
    const path = pathIn(trajectory, node)
    const whole = messagesOf([...asked, wireOf(choiceOf(said).message)])
    expect(shown(path.map(({ message }) => message))).toEqual(shown(whole))
    if (prompt) expect(tokensAlong(path)).toEqual([...prompt, ...(said.tokens ?? [])])
    const decision = trajectory.decisions.find(({ output }) => output === node)
    expect(readBy(decision!, trajectory)).toEqual(path.slice(0, -1))
  }

  for (const { nodes, steps } of trajectories.values()) {
    // What is shared is there once.
    const ours = new Set(steps.map(({ action }) => action))
    const brought = nodes.filter(({ id }) => !ours.has(id))
    const contents = brought.map(({ parent, message, spans }) => JSON.stringify([parent, message, spans]))
    expect(new Set(contents).size).toBe(contents.length)
  }
}

const scenario = fc.array(step, { maxLength: 16 })
const runs = { numRuns: 50 }

it('every answer is in its place, with what was read before it, whatever agents do', { timeout: 120_000 }, async () => {
  const store = await openMemoryStore()
  let run = 0
  await fc.assert(
    fc.asyncProperty(scenario, fc.boolean(), async (steps, remembers) => {
      run += 1
      // A gateway that has no room to remember anything looks everything up.
      const memory = remembers ? {} : { memoryBytes: 1 }
      await holds(store, run, await play(store, steps, { run, restarts: true, ...memory }))
    }),
    runs,
  )
  await store.close()
})

it('a restart changes nothing', { timeout: 120_000 }, async () => {
  const [one, other] = [await openMemoryStore(), await openMemoryStore()]
  let run = 0
  await fc.assert(
    fc.asyncProperty(scenario, async (steps) => {
      run += 1
      await play(one, steps, { run, restarts: true, distinct: true })
      await play(other, steps, { run, restarts: false, distinct: true })
      expect(await recordedIn(one, run)).toEqual(await recordedIn(other, run))
    }),
    runs,
  )
  await one.close()
  await other.close()
})
