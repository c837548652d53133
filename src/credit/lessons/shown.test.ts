import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  initialWeights,
  recordSessions,
  sayOf,
  sessionCall,
  type SessionSketch,
} from '../../../test/support/learner-traffic.ts'
import { scriptedModel } from '../../../test/support/scripted-model.ts'
import { scored, vetoed } from '../../../test/support/trajectories.ts'
import {
  type Json,
  type Renderer,
  type Reward,
  type Signal,
  type Store,
  TrajectoryId,
  VersionId,
} from '../../core/index.ts'
import { InputError, present } from '../../errors/index.ts'
import { trafficRubric } from '../../reward/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import type { Imitated } from './imitated.ts'
import { shownIn } from './shown.ts'

const { renderer } = scriptedModel(() => [])

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

interface ShownOptions {
  readonly reward?: Reward
  readonly longest?: number
  readonly imitate?: Partial<Imitated>
  /** Whose tokens were recorded. */
  readonly readBy?: Renderer
  /** What sessions are rewarded by. */
  readonly config?: Parameters<typeof trafficRubric>[0]
  /** Of the model that learns. */
  readonly renderer?: Renderer
}

async function shown(
  sketches: readonly SessionSketch[],
  signals: readonly Signal[],
  {
    reward = scored(1),
    config = {},
    longest = 1_000,
    imitate = {},
    readBy = renderer,
    renderer: learns = renderer,
  }: ShownOptions = {},
) {
  await recordSessions(store, readBy, sketches)
  const { trajectory } = present(await store.trajectories.get(TrajectoryId.parse('a')), 'the session')
  const only = { demonstrated: true, edited: true, accepted: null, ...imitate }
  const lags = new Map([[initialWeights, 0]])
  const rubric = trafficRubric(config)
  const reading = { asOf: 10_000, rubric, renderer: learns, parameter: 'model', lags, longest }
  return shownIn({ trajectory, reward, signals }, { ...reading, imitate: only })
}

/** A model whose tokens are other numbers. */
const anotherRenderer: Renderer = Object.assign(Object.create(renderer) as Renderer, {
  start: (...given: Parameters<Renderer['start']>) => renderer.start(...given).map((token) => token + 1e9),
  renderAssistant: (...given: Parameters<Renderer['renderAssistant']>) =>
    renderer.renderAssistant(...given).map((token) => token + 1e9),
})

/** A model whose turns are one line each. */
const lineRenderer: Renderer = Object.assign(Object.create(renderer) as Renderer, {
  renderAssistant: (...given: Parameters<Renderer['renderAssistant']>) => {
    if (given[0].content.includes('\n')) throw new InputError({ code: 'model/x', message: 'Two lines.', hint: 'One.' })
    return renderer.renderAssistant(...given)
  },
})

const looks = { role: 'assistant' as const, content: '', toolCalls: [{ name: 'look', arguments: {} }] }

const asked = renderer.start([{ role: 'user', content: 'What is the word?' }], [])
const saying = (content: string) => renderer.renderAssistant({ role: 'assistant', content }, [])
const after = (said: readonly number[]) => ({
  tokens: [...asked, ...said],
  learn: [...asked.map(() => false), ...said.map(() => true)],
})
const edit = (text: string): Json => ({ kind: 'edit', text })
const ofAnswer = (value: Json, call = 'a-c') => sayOf('a', value, { name: 'edit', node: `${call}-a` as never })

describe('an edited answer', () => {
  it('is a demonstration after what was read, with its stop, and better than what was said', async () => {
    const found = await shown([{ id: 'a', answer: 'blue' }], [ofAnswer(edit('red'))])
    expect(found.demonstrations).toEqual([after(saying('red'))])
    expect(found.demonstrations[0]?.tokens.at(-1)).toBe(0)
    expect(found.pairs).toEqual([{ chosen: after(saying('red')), rejected: after(saying('blue')) }])
  })

  it('is rendered with its context where the tokens are not known', async () => {
    const found = await shown([{ id: 'a', tokens: false }], [ofAnswer(edit('red'))])
    expect(found.demonstrations).toEqual([after(saying('red'))])
  })

  it('of another model stands after a context of our tokens', async () => {
    const found = await shown([{ id: 'a', version: null }], [ofAnswer(edit('red'))], { readBy: anotherRenderer })
    expect(found.demonstrations).toEqual([after(saying('red'))])
    expect(found.pairs).toEqual([{ chosen: after(saying('red')), rejected: after(saying('blue')) }])
  })

  it('teaches nothing where what led to it was vetoed, nor when it is too long', async () => {
    const nothing = { demonstrations: [], pairs: [], refused: 0 }
    expect(await shown([{ id: 'a' }], [ofAnswer(edit('red'))], { reward: vetoed(-1) })).toEqual(nothing)
    expect(await shown([], [ofAnswer(edit('red'))], { longest: 3 })).toEqual(nothing)
  })

  it('that the form of the model cannot express shows nothing, and what others showed counts', async () => {
    const twice = [{ id: 'a' }, { id: 'a', answer: 'red', call: 'two', at: 2_000 }]
    const signals = [ofAnswer(edit('two\nlines')), ofAnswer(edit('green'), 'two')]
    const found = await shown(twice, signals, { renderer: lineRenderer })
    expect(found.demonstrations).toEqual([after(saying('green'))])
    expect(found.pairs).toHaveLength(1)
  })

  it('that cannot fit is not even tokenized', async () => {
    let rendered = 0
    const counting = Object.assign(Object.create(renderer) as Renderer, {
      renderAssistant: (...given: Parameters<Renderer['renderAssistant']>) => {
        rendered++
        return renderer.renderAssistant(...given)
      },
    })
    const long = edit('é'.repeat(16 * 100))
    const found = await shown([{ id: 'a' }], [ofAnswer(long)], { longest: 100, renderer: counting })
    expect([found.demonstrations, found.pairs, rendered]).toEqual([[], [], 0])
    await shown([], [ofAnswer(edit('é'))], { longest: 100, renderer: counting })
    expect(rendered).toBe(1)
  })

  it('of which only the last word counts', async () => {
    const found = await shown([{ id: 'a' }], [ofAnswer(edit('red')), ofAnswer(edit('green'))])
    expect(found.demonstrations).toEqual([after(saying('green'))])
  })
})

it('a demonstration teaches whatever its trajectory earned', async () => {
  const value = { kind: 'demonstration', messages: [{ role: 'assistant', content: 'red' }] }
  const found = await shown([{ id: 'a' }], [ofAnswer(value)], { reward: vetoed(-1) })
  expect(found.demonstrations).toEqual([after(saying('red'))])
})

it('a demonstration that calls a tool which was not offered is refused, and counted', async () => {
  const calling = (name: string) => ({
    kind: 'demonstration',
    messages: [{ role: 'assistant', content: '', toolCalls: [{ name, arguments: {} }] }],
  })
  const offering = [{ id: 'a', offered: ['look'] }]
  expect(await shown(offering, [ofAnswer(calling('lookup'))])).toEqual({ demonstrations: [], pairs: [], refused: 1 })
  expect(await shown(offering, [ofAnswer(calling('look'))])).toMatchObject({ demonstrations: [{}], refused: 0 })
})

it('a demonstration may hold tools: what they answer is context', async () => {
  const { pairs, demonstrations } = await shown(
    [{ id: 'a', offered: ['look'] }],
    [
      ofAnswer({
        kind: 'demonstration',
        messages: [
          { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] },
          { role: 'tool', name: 'look', content: 'red' },
          { role: 'assistant', content: 'red' },
        ],
      }),
    ],
  )
  expect(pairs).toHaveLength(1)
  const { tokens, learn } = present(demonstrations[0], 'a demonstration')
  const result = renderer.extend([{ role: 'tool', name: 'look', content: 'red' }], true)
  const acted = tokens.filter((_, i) => learn[i])
  expect(tokens).toHaveLength(asked.length + acted.length + result.length)
  expect(acted.slice(-saying('red').length)).toEqual(saying('red'))
})

describe('two answers in one place', () => {
  const twice: readonly SessionSketch[] = [
    { id: 'a', answer: 'blue' },
    { id: 'a', answer: 'red', call: 'two', at: 2_000 },
  ]
  const thumbs = (value: boolean, call: string) => sayOf('a', value, { node: `${call}-a` as never })

  it('are a pair when people took one and refused the other', async () => {
    // The first was asked again: that alone speaks against it.
    const found = await shown(twice, [thumbs(true, 'two')])
    expect(found).toEqual({
      demonstrations: [],
      pairs: [{ chosen: after(saying('red')), rejected: after(saying('blue')) }],
      refused: 0,
    })
  })

  it('what somebody said goes before what is guessed', async () => {
    const found = await shown(twice, [thumbs(true, 'a-c'), thumbs(false, 'two')])
    expect(found.pairs).toEqual([{ chosen: after(saying('blue')), rejected: after(saying('red')) }])
  })

  it('are ranked by what the rubric reads, as it reads it', async () => {
    const stars = (value: number, call: string) => sayOf('a', value, { name: 'stars', node: `${call}-a` as never })
    const said = [stars(5, 'a-c'), stars(1, 'two')]
    const read = await shown(twice, said, { config: { signals: { stars: { range: [1, 5] } } } })
    expect(read.pairs).toEqual([{ chosen: after(saying('blue')), rejected: after(saying('red')) }])
    expect((await shown([], said)).pairs).toEqual([])
    // What a client calls by the name of a behaviour is none, and a name that the rubric does not read is no praise.
    for (const name of ['accepted', 'refund']) {
      const named = sayOf('a', true, { name, node: 'two-a' as never })
      expect((await shown([], [named])).pairs).toEqual([])
    }
  })

  it('are ranked by the last word of each reporter, once', async () => {
    const up = [1, 2, 3].map((i) => ({ ...thumbs(true, 'two'), key: `up ${i}`, at: 1_002 + i, reporter: 'loud' }))
    const down = ['b', 'c'].map((reporter) => ({ ...thumbs(false, 'two'), key: reporter, reporter }))
    expect((await shown(twice, [...down, ...up])).pairs).toEqual([])
  })

  it('are none while nothing speaks for either, nor where a guard says that they were gamed', async () => {
    expect((await shown(twice, [])).pairs).toEqual([])
    expect((await shown([], [thumbs(true, 'two')], { reward: vetoed(-1) })).pairs).toEqual([])
  })
})

describe('an answer that people took', () => {
  const accepting = { imitate: { accepted: 0.5 } }
  const thumbs = (value: boolean, call = 'a-c') => sayOf('a', value, { node: `${call}-a` as never })

  it('is a demonstration as it was sampled, in a session that earned enough', async () => {
    expect((await shown([{ id: 'a' }], [thumbs(true)], accepting)).demonstrations).toEqual([after(saying('blue'))])
    const little = { ...accepting, reward: scored(0.4) }
    expect((await shown([], [thumbs(true)], little)).demonstrations).toEqual([])
    expect((await shown([], [thumbs(true)])).demonstrations).toEqual([])
  })

  it('counts without a word of anybody, where the session as a whole earned enough', async () => {
    expect((await shown([{ id: 'a' }], [], accepting)).demonstrations).toEqual([after(saying('blue'))])
  })

  it('counts for a word on the whole session, though a tool failed on the way to it', async () => {
    const call = sessionCall({ id: 'a' }, renderer)
    const [question, answer] = call.part.nodes
    const [asked_, said] = [present(question, 'the question'), present(answer, 'the answer')]
    const [step] = call.part.steps
    const [decision] = call.part.decisions
    const looked = { ...said, id: 'look-a' as never, message: looks, spans: said.spans }
    const failed = {
      ...asked_,
      id: 'failed' as never,
      parent: looked.id,
      message: { role: 'tool' as const, name: 'look', content: 'timeout', isError: true },
    }
    const acts = { ...present(step, 'the step'), action: looked.id }
    const decided = { ...present(decision, 'the decision'), output: looked.id }
    await store.traffic.append({
      ...call,
      part: { ...call.part, nodes: [asked_, looked, failed], steps: [acts], decisions: [decided] },
    })
    const next = sessionCall({ id: 'a', call: 'then' }, renderer)
    const answered = { ...present(next.part.nodes[1], 'the answer'), parent: failed.id }
    await store.traffic.append({ ...next, part: { ...next.part, nodes: [answered] } })
    expect((await shown([], [sayOf('a', true)], accepting)).demonstrations).toHaveLength(1)
  })

  it('does not count when a guard says that it was gamed', async () => {
    const gamed = { ...accepting, reward: vetoed(-1) }
    expect((await shown([{ id: 'a' }], [thumbs(true)], gamed)).demonstrations).toEqual([])
  })

  it('of which the tokens are not known shows nothing', async () => {
    expect((await shown([{ id: 'a', tokens: false }], [thumbs(true)], accepting)).demonstrations).toEqual([])
  })

  it('shows nothing where another model gave it', async () => {
    const another = { ...accepting, readBy: anotherRenderer }
    expect((await shown([{ id: 'a', version: null }], [thumbs(true)], another)).demonstrations).toEqual([])
  })

  it('shows nothing where a candidate gave it that never came to serve', async () => {
    const version = VersionId.parse('candidate')
    const tried = await shown([{ id: 'a', version, arm: 'candidate' }], [thumbs(true)], accepting)
    expect(tried.demonstrations).toEqual([])
  })

  it('counts where a candidate gave it that came to serve', async () => {
    const promoted = await shown([{ id: 'a', arm: 'candidate' }], [thumbs(true)], accepting)
    expect(promoted.demonstrations).toEqual([after(saying('blue'))])
  })

  it('is learned as people edited it, where they did', async () => {
    const found = await shown([{ id: 'a' }], [thumbs(true), ofAnswer(edit('red'))], accepting)
    expect(found.demonstrations).toEqual([after(saying('red'))])
  })

  it('is the one of two that they liked', async () => {
    const twice = [{ id: 'a' }, { id: 'a', answer: 'red', call: 'two', at: 2_000 }]
    const found = await shown(twice, [thumbs(true, 'two')], accepting)
    expect(found.demonstrations).toEqual([after(saying('red'))])
  })
})

describe('what is not to be imitated', () => {
  it('is a preference all the same', async () => {
    const found = await shown([{ id: 'a' }], [ofAnswer(edit('red'))], { imitate: { edited: false } })
    expect(found.demonstrations).toEqual([])
    expect(found.pairs).toHaveLength(1)
  })
})
