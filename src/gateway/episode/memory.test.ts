import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { item } from '../../../test/support/memory-items.ts'
import { putSentenceModel } from '../../../test/support/tiny-sentence-model.ts'
import { memory, type MemoryItem, type MemoryOptions, storedValue } from '../../agent/index.ts'
import {
  type Assignment,
  type ChatRequest,
  mintVersion,
  ReleaseId,
  rememberedBy,
  type SessionRouter,
  type Store,
  subjectMark,
  type Trajectory,
  type TrajectoryId,
  type Version,
  type WireMessage,
} from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import {
  declareAgents,
  type DeclaredAgent,
  embedderOf,
  memoryParameter,
  prepareVersions,
  servedAgents,
} from '../agents/index.ts'
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
} from './recorder.conformance.ts'
import type { EpisodeRecorderOptions, ForgetfulRecorder } from './recorder-options.ts'

const weightsOf = (upstream: string, model: string) =>
  ({ kind: 'weights', base: model, baseHash: upstream, adapter: null }) as const

function remembering(items: readonly MemoryItem[], options: MemoryOptions = {}): Version {
  const declared = memory({ explore: 0, ...options, items })
  const value = storedValue(
    memoryParameter,
    declared.of,
    declared.initial(() => ''),
  )
  return mintVersion(memoryParameter, value, { parents: [], run: null })
}

/** A router whose release has what it is told. */
class Told implements SessionRouter {
  versions: readonly Version[] = []

  assign(): Assignment {
    const versions = new Map(this.versions.map((version) => [version.parameter, version]))
    return { servedBy: { release: ReleaseId.parse('r1'), canary: null }, versions, generation: 2, learned: true }
  }
}

let store: Store
let router: Told
let agents: ReadonlyMap<string, DeclaredAgent>
const recorders: ForgetfulRecorder[] = []

async function declare(own: object) {
  const config = ServeConfig.parse({ tenant: 'acme', agents: [{ name: 'support', model: 'm', ...own }] })
  agents = await declareAgents({ config, store, upstream: { weights: (model) => weightsOf('up', model) } })
}

function open(options: Partial<EpisodeRecorderOptions> = {}): ForgetfulRecorder {
  const found = servedAgents(agents, router, { weights: (model) => weightsOf('up', model) })
  const recorder = recorderOver(store, { agents: found, ...options })
  recorders.push(recorder)
  return recorder
}

beforeEach(async () => {
  store = await openMemoryStore()
  router = new Told()
  await declare({ memory: {} })
})
afterEach(async () => {
  for (const one of recorders.splice(0)) await one.close()
  await store.close()
})

const agent = { agent: 'support' }
const asked = 'My kettle K7 does not heat, what now?'
const begin = [says('system', 'own'), says('user', asked)]
const known = item('The kettle K7 does not heat.', { text: 'Send a new base.' })
const recalledIn = ({ messages }: ChatRequest) =>
  messages.flatMap((one, i) => (one.role === 'user' && one.name === rememberedBy ? [{ at: i, said: one.content }] : []))
const recallsIn = ({ decisions }: Trajectory) => decisions.filter(({ parameter }) => parameter === memoryParameter)
const pathOf = async (trajectory: TrajectoryId, node: Parameters<typeof pathIn>[1]) =>
  pathIn(await stored(store, trajectory), node).map(({ message }) => message.content.slice(0, 20))

describe('what is remembered', () => {
  it('goes between the agent’s own prompt and the conversation, and is recorded as what the model read', async () => {
    router.versions = [remembering([known, item('Where is my parcel?')])]
    const request = requestOf(begin)
    const { record, node } = await called(open(), request, 'hi', agent)
    const [recalled] = recalledIn(record.request)
    expect(recalled).toMatchObject({ at: 1, said: expect.stringContaining('Send a new base.') })
    expect(record.request.messages.toSpliced(1, 1)).toEqual(request.messages)
    expect(request.messages).toEqual(begin)
    const trajectory = await stored(store, record.trajectory)
    expect(trajectory.task.instruction).toBe(asked)
    expect(await pathOf(record.trajectory, node)).toEqual(['own', 'Notes from earlier w', asked.slice(0, 20), 'hi'])
    expect(recallsIn(trajectory)).toEqual([
      {
        id: expect.stringMatching(/d1$/),
        step: 0,
        parameter: 'memory',
        kind: 'memory',
        version: router.versions[0]?.id,
        generation: 2,
        checkpoint: null,
        made: {
          did: 'recall',
          query: asked,
          explore: 0,
          items: [expect.objectContaining({ id: known.id, shown: true })],
        },
        inputs: [],
        output: trajectory.nodes[1]?.id,
        propensity: { log: null, reason: 'deterministic' },
      },
    ])
    expect(trajectory.steps[0]?.decisions).toEqual(trajectory.decisions.map(({ id }) => id))
  })

  it('goes first where there is no prompt, and after all that there are', async () => {
    router.versions = [remembering([known])]
    const at = async (...before: typeof begin) =>
      recalledIn((await opened(open(), requestOf([...before, says('user', asked)]), agent)).request)[0]?.at
    expect(await at()).toBe(0)
    expect(await at(says('system', 'own'), { role: 'developer', content: 'brief' })).toBe(2)
  })

  it('stands beside a learned prompt', async () => {
    await declare({ memory: {}, system: 'own' })
    const text = mintVersion('system', { kind: 'text', text: 'two' }, { parents: [], run: null })
    router.versions = [text, remembering([known])]
    for (const sent of [begin, begin.slice(1)]) {
      const first = await called(open(), requestOf(sent), 'hi', agent)
      expect(first.record.request.messages.map(({ content }) => JSON.stringify(content).slice(1, 4))).toEqual([
        'two',
        'Not',
        'My ',
      ])
      const next = [...sent, first.wire, says('user', 'more')]
      const { record, node } = await called(open(), requestOf(next), 'so', agent)
      expect(record.trajectory).toBe(first.record.trajectory)
      expect(await pathOf(record.trajectory, node)).toEqual([
        'two',
        'Notes from earlier w',
        asked.slice(0, 20),
        'hi',
        'more',
        'so',
      ])
    }
  })

  it('is nothing where nothing is alike: the request goes on as it came, and that it was asked is recorded', async () => {
    for (const items of [[], [item('Where is my parcel?')]]) {
      router.versions = [remembering(items)]
      const request = requestOf([says('user', asked)])
      const { record } = await called(open(), request, 'hi', { ...agent, session: `s${items.length}` })
      expect(record.request).toBe(request)
      const [recall] = recallsIn(await stored(store, record.trajectory))
      expect(recall).toMatchObject({ made: { did: 'recall', query: asked, items: [] }, output: null })
    }
  })

  it('is asked nothing where nobody said a word', async () => {
    router.versions = [remembering([known])]
    const picture = {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:,' } }],
    } satisfies WireMessage
    for (const message of [says('user', '  '), says('system', asked), picture]) {
      const { record } = await called(open(), requestOf([message]), 'hi', agent)
      expect(recallsIn(await stored(store, record.trajectory))).toEqual([])
    }
  })

  it('reaches the person whom it is about, and nobody else', async () => {
    const own = item(asked, { owner: { tenant: 'acme', about: subjectMark('acme', 'ada') }, text: 'Hers.' })
    router.versions = [remembering([own])]
    const recalled = async (saying: object) =>
      recalledIn((await opened(open(), requestOf(begin), { ...agent, ...saying })).request).length
    expect(await recalled({ subject: 'ada' })).toBe(1)
    expect(await recalled({ subject: 'bob' })).toBe(0)
    expect(await recalled({})).toBe(0)
  })
})

describe('a session of several people', () => {
  const own = (who: string) =>
    item(asked, { owner: { tenant: 'acme', about: subjectMark('acme', who) }, text: `For ${who}.` })
  const recalled = ({ request }: { readonly request: ChatRequest }) => recalledIn(request).map(({ said }) => said)

  it.each(['in one process', 'in another'])('shows what is one person’s to nobody else, %s', async (where) => {
    router.versions = [remembering([own('ada'), own('bob')])]
    const recorder = open()
    const saying = { ...agent, session: 's' }
    const first = await called(recorder, requestOf(begin), 'hi', { ...saying, subject: 'ada' })
    expect(recalled(first.record)).toEqual([expect.stringContaining('For ada.')])
    const next = requestOf([...begin, first.wire, says('user', 'more')])
    const later = where === 'in one process' ? recorder : open()
    // Nor is what is bob's shown in a session that is ada's, which it would teach for her.
    for (const subject of ['bob', null]) {
      expect(recalled(await opened(later, next, { ...saying, subject }))).toEqual([])
    }
    expect(recalled(await opened(later, next, { ...saying, subject: 'ada' }))).toEqual(recalled(first.record))
  })
})

it('shows nothing that is one person’s to whoever holds a session’s key and says that they are', async () => {
  const own = item(asked, { owner: { tenant: 'acme', about: subjectMark('acme', 'ada') }, text: 'Hers.' })
  router.versions = [remembering([own])]
  const context = contextOf({ ...agent, session: 's', subject: 'ada' })
  const saysTheKey = async (subject: string | null) => {
    const caller = { ...context.caller, session: 's', subject }
    const begun = await open().begin(requestOf(begin), { ...context, caller })
    return begun.kind === 'call' ? recalledIn(begun.record.request).length : null
  }
  expect(await saysTheKey(null)).toBe(0)
  expect(await saysTheKey('ada')).toBe(1)
})

describe('an erasure', () => {
  it.each(['in one process', 'in another'])('takes what is shown from sessions under way, %s', async (where) => {
    const other = item(`${asked} Again`, { text: 'Ask for the number.' })
    const before = remembering([known, other])
    router.versions = [before]
    const recorder = open()
    const saying = { ...agent, session: 's' }
    const first = await called(recorder, requestOf(begin), 'hi', saying)
    expect(recalledIn(first.record.request)[0]?.said).toContain('Send a new base.')
    router.versions = [{ ...remembering([other]), id: before.id }]
    const next = requestOf([...begin, first.wire, says('user', 'more')])
    const { record } = await called(where === 'in one process' ? recorder : open(), next, 'so', saying)
    const [left, ...none] = recalledIn(record.request)
    expect(left?.said).toContain('Ask for the number.')
    expect(left?.said).not.toContain('Send a new base.')
    expect(none).toEqual([])
    // What was recalled anew stays from then on.
    for (const later of [open(), open()]) {
      expect(recalledIn((await called(later, next, 'so', saying)).record.request)).toEqual([left])
    }
    expect(recallsIn(await stored(store, record.trajectory))).toHaveLength(2)
  })
})

describe('a session', () => {
  it.each([{ session: 's' }, { session: null }])(
    'keeps the message that it got, also in another process: %o, and the recall is recorded once',
    async ({ session }) => {
      const alike = [1, 2, 3, 4].map((i) => item(`${asked} ${i}`))
      router.versions = [remembering(alike, { explore: 0.4 })]
      const saying = { ...agent, session }
      const first = await called(open(), requestOf(begin), 'hi', saying)
      const [before] = recalledIn(first.record.request)
      const next = [...begin, first.wire, says('user', 'more')]
      for (const recorder of [recorders[0] ?? open(), open()]) {
        const { record, node } = await called(recorder, requestOf(next), 'so', saying)
        expect(recalledIn(record.request)).toEqual(before ? [before] : [])
        expect(record.trajectory).toBe(first.record.trajectory)
        expect((await pathOf(record.trajectory, node)).length).toBe(before ? 6 : 5)
      }
      expect(recallsIn(await stored(store, first.record.trajectory))).toHaveLength(1)
    },
  )

  it('keeps it also where the process has forgotten it for others', async () => {
    const long = (i: number) => item(`${asked} ${i}`, { text: `${i} ${'long '.repeat(1_500)}` })
    router.versions = [remembering([1, 2, 3, 4].map(long), { explore: 0.4 })]
    const recorder = open({ memoryBytes: 1 })
    const first = await called(recorder, requestOf(begin), 'hi', { ...agent, session: 's' })
    for (let i = 0; i < 30; i += 1) await called(recorder, requestOf(begin), 'hi', { ...agent, session: `other ${i}` })
    const next = [...begin, first.wire, says('user', 'more')]
    const { record } = await called(recorder, requestOf(next), 'so', { ...agent, session: 's' })
    expect(recalledIn(record.request)).toEqual(recalledIn(first.record.request))
    expect(recallsIn(await stored(store, record.trajectory))).toHaveLength(1)
  })

  it('records the recall with the call that is repeated, whose first try nothing of is left', async () => {
    router.versions = [remembering([known])]
    const recorder = open()
    const saying = { ...agent, session: 's', idempotencyKey: 'k' }
    const broken = await opened(recorder, requestOf(begin), saying)
    const failure = { code: 'x/y', message: 'broke' }
    await broken.finish({ answer: answerOf(['half']), stopReason: 'model-error', failure })
    const { record } = await called(recorder, requestOf(begin), 'whole', { ...saying, retry: 1 })
    expect(recallsIn(await stored(store, record.trajectory))).toHaveLength(1)
  })

  it('goes on in another process with its tokens, though its own prompt changed before', async () => {
    router.versions = [remembering([known])]
    const said = { content: 'hi', tokens: [4, 5], closedTurn: true }
    const answer = { promptTokens: [1, 2, 3] }
    const saying = { ...agent, session: 's' }
    await called(open(), requestOf([says('system', 'on Monday'), ...begin.slice(1)]), said, { ...saying, answer })
    const tuesday = [says('system', 'on Tuesday'), ...begin.slice(1)]
    const second = await called(open(), requestOf(tuesday), said, { ...saying, answer })
    const next = requestOf([...tuesday, second.wire, says('user', 'more')])
    for (const recorder of [recorders.at(-1) ?? open(), open()]) {
      expect((await opened(recorder, next, saying)).history).toEqual({
        messages: 4,
        tokens: [1, 2, 3, 4, 5],
        closedTurn: true,
      })
    }
  })

  it('is asked once for two calls at a time, and the one that is answered records it', async () => {
    router.versions = [remembering([known])]
    const recorder = open()
    const saying = { ...agent, session: 's' }
    const [one, other] = await Promise.all([
      opened(recorder, requestOf(begin), saying),
      opened(recorder, requestOf(begin, { temperature: 0.5 }), saying),
    ])
    expect(recalledIn(one.request)).toEqual(recalledIn(other.request))
    await one.finish({ answer: null, stopReason: 'model-error', failure: { code: 'x/y', message: 'no' } })
    await other.finish({ answer: answerOf(['hi']), stopReason: 'done', failure: null })
    const trajectory = await stored(store, other.trajectory)
    expect(recallsIn(trajectory)).toHaveLength(1)
    expect(trajectory.steps.flatMap(({ decisions }) => decisions)).toContain(recallsIn(trajectory)[0]?.id)
  })

  it('recalls by another memory from when that serves: a rollback takes at once what does harm', async () => {
    const harmful = item(asked, { text: 'Throw it away.' })
    router.versions = [remembering([harmful])]
    const recorder = open()
    const saying = { ...agent, session: 's' }
    const first = await called(recorder, requestOf(begin), 'hi', saying)
    router.versions = [remembering([])]
    const next = requestOf([...begin, first.wire, says('user', 'more')])
    const { record, node } = await called(recorder, next, 'so', saying)
    expect(record.request).toBe(next)
    expect(await pathOf(record.trajectory, node)).toEqual(['own', asked.slice(0, 20), 'hi', 'more', 'so'])
    expect(recallsIn(await stored(store, record.trajectory)).map(({ version }) => version)).toHaveLength(2)
  })

  it('goes on with its exact tokens', async () => {
    router.versions = [remembering([known])]
    const said = { content: 'hi', tokens: [4, 5], closedTurn: true }
    const answer = { promptTokens: [1, 2, 3] }
    for (const sent of [begin, begin.slice(1)]) {
      const first = await called(open(), requestOf(sent), said, { ...agent, answer })
      const again = await opened(open(), requestOf([...sent, first.wire, says('user', 'more')]), agent)
      expect(again.history).toEqual({ messages: sent.length + 2, tokens: [1, 2, 3, 4, 5], closedTurn: true })
    }
  })
})

it('is indexed once, whoever declares the agent: what prepares it has the embedder that it is recalled by', async () => {
  expect(await embedderOf({})).toBe(await embedderOf({}))
})

it('compares by the sentence model that it names, once that was pulled, and not before', async () => {
  const models = mkdtempSync(join(tmpdir(), 'ratchet-memory-'))
  vi.stubEnv('RATCHET_MODELS', models)
  try {
    const door = { name: 'door', memory: { embedder: 'minilm' } }
    await expect(declare(door)).rejects.toMatchObject({
      code: 'model/not-found',
      hint: 'Run: npx ratchet pull minilm',
    })
    putSentenceModel(join(models, 'minilm'))
    await declare(door)
    const before = item('A noisy fridge.', { text: 'Send felt pads.' })
    router.versions = [remembering([before, item('A delayed boat.')], { embedder: await embedderOf(door.memory) })]
    const { record } = await called(open(), requestOf([says('user', 'My refrigerator hums.')]), 'hi', { agent: 'door' })
    expect(recalledIn(record.request)).toMatchObject([{ said: expect.stringContaining('Send felt pads.') }])
    expect(recalledIn(record.request)).not.toMatchObject([{ said: expect.stringContaining('boat') }])
  } finally {
    vi.unstubAllEnvs()
    rmSync(models, { recursive: true })
  }
})

describe('goes on without', () => {
  it('a memory that cannot be read here, and tells of it', async () => {
    const problems: unknown[] = []
    const other = { name: 'another', dimensions: 2, costly: false, embed: async () => [Float32Array.from([1, 0])] }
    router.versions = [remembering([], { embedder: other })]
    const foreign = remembering([item(asked)], { embedder: other })
    router.versions = [foreign]
    const request = requestOf(begin)
    const { record } = await called(open({ onProblem: (error) => problems.push(error) }), request, 'hi', agent)
    expect(record.request).toBe(request)
    expect(recallsIn(await stored(store, record.trajectory))).toEqual([])
    expect(problems).toMatchObject([{ code: expect.stringMatching(/^memory\//) }])
  })

  it('one that is made ready and has archives, which a gateway has not', async () => {
    const archived = remembering([])
    const value = {
      ...archived.value,
      value: { ...('value' in archived.value ? Object(archived.value.value) : {}), archives: ['a'.repeat(64)] },
    }
    const prepare = prepareVersions(agents, { prepare: async () => {} })
    const versions = new Map([[memoryParameter, { ...archived, value }]])
    const [key = ''] = agents.keys()
    await expect(prepare(key, versions)).rejects.toMatchObject({ code: 'memory/no-archive' })
  })

  it('one that the configuration has no more', async () => {
    await declare({})
    router.versions = [remembering([known])]
    const request = requestOf(begin)
    const { record } = await called(open(), request, 'hi', agent)
    expect(record.request).toBe(request)
    expect(recallsIn(await stored(store, record.trajectory))).toEqual([])
  })
})
