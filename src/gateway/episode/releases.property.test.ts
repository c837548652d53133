import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type Assignment,
  messagesOf,
  mintVersion,
  ReleaseId,
  type SessionRouter,
  type Version,
  type WireMessage,
} from '../../core/index.ts'
import { item } from '../../../test/support/memory-items.ts'
import { memory, storedValue } from '../../agent/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { declareAgents, memoryParameter, servedAgents } from '../agents/index.ts'
import { ServeConfig } from '../config.ts'
import { called, opened, pathIn, recorderOver, requestOf, says, stored, tokensAlong } from './recorder.conformance.ts'

/*
 * Whatever serves a conversation turn by turn, in whichever process: it stays one trajectory, each answer's path holds
 * exactly what the model read, and no call is given tokens of another beginning.
 */
const upstream = {
  weights: (model: string) => ({ kind: 'weights', base: model, baseHash: 'up', adapter: null }) as const,
}
const mint = (parameter: string, value: Version['value']) => mintVersion(parameter, value, { parents: [], run: null })

/** The system prompt of each release; `null` is the agent's own. */
const prompts = [null, 'two', 'three'] as const
/** What each remembers of the question that all conversations begin with. */
const memories = [[], ['done so'], ['done otherwise', 'or like this']].map((known) => {
  const items = known.map((text, i) => item(`question ${i}`, { text }))
  const declared = memory({ items, explore: 0.3 })
  return mint(
    memoryParameter,
    storedValue(
      memoryParameter,
      declared.of,
      declared.initial(() => ''),
    ),
  )
})
const router = (now: () => number): SessionRouter => ({
  assign(_agent, _session, known): Assignment {
    const prompt = prompts[now()] ?? null
    const versions = [
      mint('model', { ...upstream.weights('m'), adapter: now() === 0 ? null : String(now()).repeat(64) }),
      mint('system', { kind: 'text', text: prompt ?? 'own' }),
      ...memories.slice(now(), now() + 1),
    ]
    return {
      servedBy: known ?? { release: ReleaseId.parse(`r${now()}`), canary: null },
      versions: new Map(versions.map((version) => [version.parameter, version])),
      generation: now() + 1,
      learned: now() > 0,
    }
  },
})

interface Turn {
  readonly release: number
  readonly restart: boolean
  /** How many of the conversation's turns the client goes back: 0 goes on. */
  readonly back: number
  readonly tokens: boolean
}
const turn: fc.Arbitrary<Turn> = fc.record({
  release: fc.integer({ min: 0, max: 2 }),
  restart: fc.boolean(),
  back: fc.constantFrom(0, 0, 0, 1),
  tokens: fc.boolean(),
})

/** Tokens of what a template renders; what was sampled is told otherwise. */
const rendered = (messages: readonly WireMessage[]) =>
  messagesOf(messages).flatMap(({ role, content }) => [role.length, ...Array.from(content, (c) => c.charCodeAt(0))])
const sampled = (text: string) => Array.from(text, (c) => 1_000 + c.charCodeAt(0))
const readIn = (messages: readonly WireMessage[]) => messagesOf(messages).map(({ role, content }) => [role, content])

it('a conversation is one, and each of its paths is what the model read', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 7 }),
      fc.boolean(),
      fc.constantFrom('s', null),
      fc.boolean(),
      fc.constantFrom(1, 64 * 1024 * 1024),
      async (turns, ownSystem, session, remembers, memoryBytes) => {
        const store = await openMemoryStore()
        const declared = { name: 'a', model: 'm', system: 'own', ...(remembers && { memory: {} }) }
        const config = ServeConfig.parse({ tenant: 'acme', agents: [declared] })
        const agents = await declareAgents({ config, store, upstream })
        let release = 0
        const open = () =>
          recorderOver(store, {
            memoryBytes,
            agents: servedAgents(
              agents,
              router(() => release),
              upstream,
            ),
          })
        let recorder = open()
        const saying = { agent: 'a', session }
        let history: readonly WireMessage[] = ownSystem ? [says('system', 'own')] : []
        const heads: (readonly WireMessage[])[] = []
        /** What each answer was read after, and the exact tokens up to its end. */
        const known = new Map<string, { readonly read: unknown; readonly tokens: readonly number[] }>()
        const trajectories = new Set<string>()
        const recalled = new Set<number>()
        for (const [i, { restart, back, tokens, ...now }] of turns.entries()) {
          release = now.release
          if (restart) {
            await recorder.close()
            recorder = open()
          }
          if (back > 0) history = heads.at(-1 - back) ?? history
          const sent = [...history, says('user', `question ${i}`)]
          const asked = await opened(recorder, requestOf(sent), saying)
          const { request, history: exact } = asked
          await asked.finish({
            answer: null,
            stopReason: 'model-error',
            failure: { code: 'x/y', message: 'try again' },
          })
          if (exact) {
            const before = known.get(messagesOf(request.messages)[exact.messages - 1]?.content ?? '')
            expect(exact.tokens).toEqual(before?.tokens)
            expect(readIn(request.messages.slice(0, exact.messages - 1))).toEqual(before?.read)
          }
          const prompt = exact
            ? [...exact.tokens, ...rendered(request.messages.slice(exact.messages))]
            : rendered(request.messages)
          const said = `answer ${i}`
          const answer = tokens ? { content: said, tokens: sampled(said), closedTurn: true } : said
          const more = tokens ? { promptTokens: prompt } : {}
          const { record, node, wire } = await called(recorder, requestOf(sent), answer, { ...saying, answer: more })
          trajectories.add(record.trajectory)
          const trajectory = await stored(store, record.trajectory)
          const path = pathIn(trajectory, node)
          const read = readIn(record.request.messages)
          expect(path.map(({ message }) => [message.role, message.content])).toEqual([...read, ['assistant', said]])
          if (tokens) expect(tokensAlong(path)).toEqual([...prompt, ...sampled(said)])
          const made = trajectory.decisions.filter(({ step }) => trajectory.steps[step]?.action === node)
          const learned = prompts[release] !== null
          const recalls = remembers && !recalled.has(release)
          if (remembers) recalled.add(release)
          expect(made.map(({ parameter }) => parameter)).toEqual([
            'model',
            ...(learned ? ['system'] : []),
            ...(recalls ? [memoryParameter] : []),
          ])
          expect(new Set(made.map(({ generation }) => generation))).toEqual(new Set([release + 1]))
          if (learned) expect(made[1]?.output).toBe(path[0]?.id)
          if (tokens) known.set(said, { read, tokens: [...prompt, ...sampled(said)] })
          history = [...sent, wire]
          heads.push(history)
        }
        expect(trajectories.size).toBe(1)
        await recorder.close()
        await store.close()
      },
    ),
    { numRuns: 25 },
  )
})
