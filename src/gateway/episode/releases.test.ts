import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Assignment,
  CanaryId,
  type ChatRequest,
  mintVersion,
  ReleaseId,
  type ServedBy,
  type SessionOwner,
  type SessionRouter,
  type Store,
  type TrajectoryId,
  type Version,
  type WireMessage,
} from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { declareAgents, type DeclaredAgent, type FindAgent, servedAgents } from '../agents/index.ts'
import { ServeConfig } from '../config.ts'
import {
  answerOf,
  called,
  contextOf,
  opened,
  pathIn,
  recorderOver,
  requestOf,
  says,
  stored,
  tokensAlong,
} from './recorder.conformance.ts'
import type { EpisodeRecorderOptions, ForgetfulRecorder } from './recorder-options.ts'
import type { Redaction } from './redaction/index.ts'

/*
 * What an agent's releases do to its records. The client's own prompt is "own"; the releases are R1 (as it was), R2 and R3
 * with system prompts "two" and "three", and adapters.
 */
const mint = (parameter: string, value: Version['value']) => mintVersion(parameter, value, { parents: [], run: null })
const text = (parameter: string, value: string) => mint(parameter, { kind: 'text', text: value })
const weights = (adapter: string | null) =>
  mint('model', { kind: 'weights', base: 'm', baseHash: 'up', adapter: adapter && adapter.repeat(64) })
const release = (id: string) => ReleaseId.parse(id)

interface Releasing {
  readonly versions: readonly Version[]
  readonly generation: number
  readonly learned: boolean
}
const initial: Releasing = {
  versions: [weights(null), text('system', 'own'), text('tool-f', 'own f')],
  generation: 1,
  learned: false,
}
const second: Releasing = {
  versions: [weights('a'), text('system', 'two'), text('tool-f', 'own f')],
  generation: 2,
  learned: true,
}
const third: Releasing = {
  versions: [weights('b'), text('system', 'three'), text('tool-f', 'f three')],
  generation: 3,
  learned: true,
}

/** A router that serves what it is told to. */
class Told implements SessionRouter {
  now = initial
  servedBy: ServedBy = { release: release('r1'), canary: null }
  candidate: Releasing | null = null
  readonly asked: { readonly session: TrajectoryId; readonly known: ServedBy | null }[] = []

  readonly owners: (SessionOwner | undefined)[] = []

  assign(_: string, session: TrajectoryId, known: ServedBy | null, owner?: SessionOwner): Assignment {
    this.asked.push({ session, known })
    this.owners.push(owner)
    const servedBy = known ?? this.servedBy
    const { versions, ...rest } = (servedBy.canary?.arm === 'candidate' ? this.candidate : null) ?? this.now
    return { servedBy, versions: new Map(versions.map((version) => [version.parameter, version])), ...rest }
  }
}

let store: Store
let router: Told
let agents: ReadonlyMap<string, DeclaredAgent>
let recorder: ForgetfulRecorder
const recorders: ForgetfulRecorder[] = []

const weightsOf = (upstream: string, model: string) =>
  ({ kind: 'weights', base: model, baseHash: upstream, adapter: null }) as const
const find = (): FindAgent => servedAgents(agents, router, { weights: (model) => weightsOf('up', model) })
function open(options: Partial<EpisodeRecorderOptions> = {}): ForgetfulRecorder {
  const opened = recorderOver(store, { agents: find(), ...options })
  recorders.push(opened)
  return opened
}

beforeEach(async () => {
  store = await openMemoryStore()
  router = new Told()
  const config = ServeConfig.parse({
    tenant: 'acme',
    agents: [{ name: 'support', model: 'm', system: 'own', tools: { f: 'own f' } }],
  })
  agents = await declareAgents({ config, store, upstream: { weights: (model) => weightsOf('up', model) } })
  recorder = open()
})
afterEach(async () => {
  for (const one of recorders.splice(0)) await one.close()
  await store.close()
})

const tool = { type: 'function', function: { name: 'f', description: 'own f', strict: true } } as const
const agent = { agent: 'support' }
const begin: readonly WireMessage[] = [says('system', 'own'), says('user', 'hello')]
const textsOf = async (trajectory: TrajectoryId, node: Parameters<typeof pathIn>[1]) =>
  pathIn(await stored(store, trajectory), node).map(({ message }) => message.content)
const systemOf = ({ messages: [first] }: ChatRequest) => first?.content

describe('an agent as it was before it learned', () => {
  it('is asked with the very request that came (invariant 9)', async () => {
    const request = requestOf(begin, { tools: [tool] })
    const record = await opened(recorder, request, agent)
    expect(record.request).toBe(request)
    expect(record.weights).toEqual(weightsOf('up', 'm'))
    expect(record.served).toEqual({ by: { release: 'r1', canary: null }, generation: 1 })
  })

  it('is recorded with its release and its Generation, and no text decides', async () => {
    const { record } = await called(recorder, requestOf(begin), 'hi', agent)
    const trajectory = await stored(store, record.trajectory)
    expect(trajectory.origin).toMatchObject({ agent: 'support', servedBy: { release: 'r1', canary: null } })
    expect(trajectory.decisions).toMatchObject([
      { parameter: 'model', version: initial.versions[0]?.id, generation: 1 },
    ])
  })

  it('is none that the configuration does not name, nor another tenant’s of its name', async () => {
    router.now = second
    for (const saying of [{}, { agent: 'other' }, { agent: 'support', tenant: 'globex' }]) {
      const request = requestOf(begin)
      const { record } = await called(recorder, request, 'hi', saying)
      expect(record.request).toBe(request)
      expect([record.weights, record.served]).toEqual([null, null])
      const trajectory = await stored(store, record.trajectory)
      expect(trajectory.origin).toMatchObject({ servedBy: null })
      expect(trajectory.decisions).toMatchObject([{ generation: 0 }])
    }
    expect(router.asked).toEqual([])
  })
})

describe('texts that the configuration has no more', () => {
  const declared = (own: object) => {
    const config = ServeConfig.parse({ tenant: 'acme', agents: [{ name: 'support', model: 'm', ...own }] })
    return declareAgents({ config, store, upstream: { weights: (model) => weightsOf('up', model) } })
  }

  it('serve on for others, and leave its own requests as they came', async () => {
    agents = await declared({ tools: { f: 'own f' } })
    router.now = third
    const request = requestOf(begin, { tools: [tool] })
    const { record } = await called(open(), request, 'hi', agent)
    expect(record.request.messages).toEqual(begin)
    expect(record.request.tools).toMatchObject([{ function: { description: 'f three' } }])
  })

  it('are not those that only people added', async () => {
    router.now = { ...second, versions: [...second.versions, text('tool-g', 'g two')] }
    const request = requestOf(begin, { tools: [{ ...tool, function: { name: 'g' } }] })
    const { record } = await called(open(), request, 'hi', agent)
    expect(record.request.tools).toMatchObject([{ function: { description: 'g two' } }])
  })
})

describe('learned texts', () => {
  it('stand in the place of the agent’s own, and are recorded as what the model read', async () => {
    router.now = third
    const request = requestOf(begin, { tools: [tool, { ...tool, function: { name: 'g' } }], temperature: 0 })
    const { record, node } = await called(recorder, request, 'hi', agent)
    expect(record.request).toEqual({
      ...request,
      messages: [says('system', 'three'), says('user', 'hello')],
      tools: [
        { type: 'function', function: { name: 'f', description: 'f three', strict: true } },
        { type: 'function', function: { name: 'g' } },
      ],
    })
    expect(request.messages).toEqual(begin)
    const trajectory = await stored(store, record.trajectory)
    const [system, user] = trajectory.nodes
    expect(await textsOf(record.trajectory, node)).toEqual(['three', 'hello', 'hi'])
    expect(Object.values(trajectory.toolsets)).toMatchObject([[{ description: 'f three' }, { description: '' }]])
    const none = { log: null, reason: 'deterministic' }
    expect(trajectory.decisions).toMatchObject([
      { parameter: 'model', kind: 'weights', inputs: [user?.id], output: node, generation: 3 },
      {
        parameter: 'system',
        kind: 'text',
        version: third.versions[1]?.id,
        inputs: [],
        output: system?.id,
        generation: 3,
        propensity: none,
      },
      { parameter: 'tool-f', kind: 'text', version: third.versions[2]?.id, inputs: [], output: null, propensity: none },
    ])
    expect(trajectory.steps[0]?.decisions).toEqual(trajectory.decisions.map(({ id }) => id))
    expect((await store.versions.get(trajectory.decisions[0]!.version))?.value).toMatchObject({
      adapter: 'b'.repeat(64),
    })
  })

  it('go before a conversation that has no system prompt, keep the role of one that has, and leave reminders be', async () => {
    router.now = second
    const of = async (...messages: WireMessage[]) =>
      (await opened(recorder, requestOf(messages), agent)).request.messages
    const user = says('user', 'hello')
    expect(await of(user)).toEqual([says('system', 'two'), user])
    expect(await of({ role: 'developer', content: 'own' }, user)).toEqual([{ role: 'developer', content: 'two' }, user])
    expect(await of(user, says('system', 'be brief'))).toEqual([
      says('system', 'two'),
      user,
      says('system', 'be brief'),
    ])
  })

  it('decide nothing where the release has the agent’s own', async () => {
    router.now = { ...second, versions: [weights('a'), ...initial.versions.slice(1)] }
    const request = requestOf(begin, { tools: [tool] })
    const { record } = await called(recorder, request, 'hi', agent)
    expect(record.request).toBe(request)
    expect((await stored(store, record.trajectory)).decisions.map(({ parameter }) => parameter)).toEqual(['model'])
  })

  it.each([
    ['replaced', begin],
    ['put first', begin.slice(1)],
  ])('that are %s: two turns of a nameless conversation are one trajectory', async (_, sent) => {
    router.now = second
    const first = await called(recorder, requestOf(sent), 'hi', agent)
    for (const other of [recorder, open()]) {
      const next = [...sent, first.wire, says('user', 'more')]
      const { record, node } = await called(other, requestOf(next), 'so', agent)
      expect(record.trajectory).toBe(first.record.trajectory)
      expect(await textsOf(record.trajectory, node)).toEqual(['two', 'hello', 'hi', 'more', 'so'])
      const path = pathIn(await stored(store, record.trajectory), node)
      expect(path.map(({ id }) => id)).toContain(first.node)
    }
    expect((await store.trajectories.list({ limit: 9 })).length).toBe(1)
  })

  it('are what exact tokens are of: a conversation goes on with them while its prompt stays', async () => {
    router.now = second
    const prompt = [1, 2, 3]
    const said = { content: 'hi', tokens: [4, 5], closedTurn: true }
    const first = await called(recorder, requestOf(begin.slice(1)), said, {
      ...agent,
      answer: { promptTokens: prompt },
    })
    const next = requestOf([...begin.slice(1), first.wire, says('user', 'more')])
    const again = await opened(recorder, next, agent)
    // With the message that was put first.
    expect(again.history).toEqual({ messages: 3, tokens: [1, 2, 3, 4, 5], closedTurn: true })
    router.now = { ...second, versions: [weights('b'), ...second.versions.slice(1)] }
    expect((await opened(recorder, next, agent)).history).not.toBeNull()
    router.now = third
    expect((await opened(recorder, next, agent)).history).toBeNull()
    router.now = initial
    expect((await opened(recorder, next, agent)).history).toBeNull()
  })
})

describe('a release that changes between two turns', () => {
  it.each(['in one process', 'in another'])(
    'is served from there on, beside what was read before, %s',
    async (where) => {
      const recorderFor = () => (where === 'in one process' ? recorder : open())
      const first = await called(
        recorder,
        requestOf(begin),
        { content: 'one', tokens: [4], closedTurn: true },
        { ...agent, answer: { promptTokens: [1, 2] } },
      )
      router.now = third
      const sent = [...begin, first.wire, says('user', 'more')]
      const second = await called(
        recorderFor(),
        requestOf(sent),
        { content: 'two', tokens: [9] },
        { ...agent, answer: { promptTokens: [7, 8] } },
      )
      expect(systemOf(second.record.request)).toBe('three')
      router.now = initial
      const later = [...sent, second.wire, says('user', 'again')]
      const back = await called(recorderFor(), requestOf(later), 'three', agent)
      expect(new Set([first, second, back].map(({ record }) => record.trajectory)).size).toBe(1)
      const { trajectory } = back.record
      expect(systemOf(back.record.request)).toBe('own')
      expect(await textsOf(trajectory, first.node)).toEqual(['own', 'hello', 'one'])
      expect(await textsOf(trajectory, second.node)).toEqual(['three', 'hello', 'one', 'more', 'two'])
      expect(await textsOf(trajectory, back.node)).toEqual(['own', 'hello', 'one', 'more', 'two', 'again', 'three'])
      const { nodes, decisions } = await stored(store, trajectory)
      expect(tokensAlong(pathIn({ nodes }, second.node))).toEqual([7, 8, 9])
      expect(pathIn({ nodes }, back.node).map(({ id }) => id)).toContain(first.node)
      expect(decisions.map(({ parameter, generation }) => [parameter, generation])).toEqual([
        ['model', 1],
        ['model', 3],
        ['system', 3],
        ['model', 1],
      ])
    },
  )

  it('is the same release again for a request that is repeated: the client’s own words count', async () => {
    router.now = second
    const saying = { ...agent, idempotencyKey: 'k' }
    await called(recorder, requestOf(begin), 'hi', saying)
    router.now = third
    for (const other of [recorder, open()]) {
      expect((await other.begin(requestOf(begin), contextOf(saying))).kind).toBe('replay')
    }
  })
})

describe('a session', () => {
  const candidate: ServedBy = {
    release: release('r1'),
    canary: { id: CanaryId.parse('c1'), arm: 'candidate', propensity: 0.1 },
  }

  it.each([{ session: 's' }, { session: null }])('keeps what it began with: %o', async ({ session }) => {
    router.servedBy = candidate
    router.candidate = second
    const saying = { ...agent, session }
    const first = await called(recorder, requestOf(begin), 'hi', saying)
    router.servedBy = { release: release('r9'), canary: null }
    const next = requestOf([...begin, first.wire, says('user', 'more')])
    await called(recorder, next, 'a', saying)
    await called(open(), next, 'b', saying)
    expect(router.asked.map(({ known }) => known)).toEqual([null, candidate, candidate])
    const { origin } = await stored(store, first.record.trajectory)
    expect(origin).toMatchObject({ servedBy: candidate })
  })

  it('is asked for with whose it is, as it is recorded', async () => {
    for (const subject of ['ann', 'ann@example.com', null]) {
      const { record } = await called(recorder, requestOf(begin), 'hi', { ...agent, subject })
      const { origin } = await stored(store, record.trajectory)
      if (origin.kind !== 'traffic') throw new Error('no traffic')
      expect(router.owners.at(-1)).toEqual({ key: origin.key, subject: origin.subject })
    }
  })

  it('is read back before it is assigned, though nothing of its history comes', async () => {
    router.servedBy = candidate
    router.candidate = second
    await called(recorder, requestOf(begin), 'hi', { ...agent, session: 's' })
    await called(open(), requestOf([says('user', 'something else')]), 'hi', { ...agent, session: 's' })
    expect(router.asked[1]?.known).toEqual(candidate)
  })

  it('whose candidate cannot be served gets the release, and stays evidence of the arm that it was drawn for', async () => {
    const told: unknown[] = []
    const failing = open({ onFallBack: (who, served, cause) => told.push([who.name, served.servedBy, cause]) })
    router.servedBy = candidate
    router.candidate = third
    const record = await opened(failing, requestOf(begin, { tools: [tool] }), agent)
    expect(record.served).toEqual({ by: candidate, generation: 3 })
    expect(record.weights?.adapter).toBe('b'.repeat(64))
    expect(await record.fallBack('cause')).toBe(true)
    expect(await record.fallBack('again')).toBe(false)
    expect(told).toEqual([['support', candidate, 'cause']])
    expect(record.weights?.adapter).toBeNull()
    expect(systemOf(record.request)).toBe('own')
    expect(record.served).toEqual({ by: candidate, generation: 1 })
    await record.finish({ answer: answerOf(['hi']), stopReason: 'done', failure: null })
    const trajectory = await stored(store, record.trajectory)
    expect(trajectory.origin).toMatchObject({ servedBy: candidate })
    expect(trajectory.nodes[0]?.message.content).toBe('own')
    expect(trajectory.decisions).toMatchObject([
      { parameter: 'model', generation: 1, version: initial.versions[0]?.id },
    ])
  })

  it('whose candidate fails later stays what it began as; its decisions say what served', async () => {
    router.servedBy = candidate
    router.candidate = second
    const first = await called(recorder, requestOf(begin), 'hi', agent)
    const record = await opened(recorder, requestOf([...begin, first.wire, says('user', 'more')]), agent)
    expect(await record.fallBack('cause')).toBe(true)
    await record.finish({ answer: answerOf(['so']), stopReason: 'done', failure: null })
    const { origin, decisions } = await stored(store, first.record.trajectory)
    expect(origin).toMatchObject({ servedBy: candidate })
    expect(decisions.map(({ parameter, generation }) => [parameter, generation])).toEqual([
      ['model', 2],
      ['system', 2],
      ['model', 1],
    ])
  })

  it('has nothing to fall back on where what serves everybody is the same', async () => {
    router.now = second
    const record = await opened(recorder, requestOf(begin), agent)
    expect(await record.fallBack('cause')).toBe(false)
    const other = await opened(recorder, requestOf(begin), {})
    expect(await other.fallBack('cause')).toBe(false)
  })
})

it('another model than the agent’s answers as itself, with the release’s texts', async () => {
  router.now = second
  const { record } = await called(recorder, requestOf(begin, { model: 'other' }), 'hi', agent)
  expect(record.weights).toBeNull()
  expect(systemOf(record.request)).toBe('two')
  const { decisions } = await stored(store, record.trajectory)
  expect((await store.versions.get(decisions[0]!.version))?.value).toMatchObject({ base: 'other', adapter: null })
})

describe('the time that the gateway itself takes', () => {
  it('is spent on the same work in both arms of a canary, and what was read once is not read again', async () => {
    router.candidate = second
    const long = [says('system', 'own'), says('user', 'x'.repeat(100_000))]
    const read = { characters: 0 }
    const counting: Redaction = {
      active: true,
      mayBeSlow: false,
      redact: (text: string) => {
        read.characters += text.length
        return { value: text, changed: false }
      },
      keeps: () => true,
      reading: async (read) => read(counting),
      together: () => counting,
    }
    const counter = open({ redaction: counting })
    const work: Record<string, number> = {}
    for (const arm of ['baseline', 'candidate'] as const) {
      router.servedBy = { release: release('r1'), canary: { id: CanaryId.parse('c_1'), arm, propensity: 0.5 } }
      read.characters = 0
      const begun = await counter.begin(requestOf(long, { tools: [tool] }), contextOf({ ...agent, session: arm }))
      if (begun.kind !== 'call') throw new Error(begun.kind)
      work[arm] = read.characters
    }
    expect(work['candidate']).toBeLessThan(110_000)
    expect(Math.abs((work['candidate'] ?? 0) - (work['baseline'] ?? 0))).toBeLessThan(20)
  })
})
