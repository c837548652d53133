import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordSessions, sayOf, type SessionSketch } from '../../../test/support/learner-traffic.ts'
import { scriptedModel } from '../../../test/support/scripted-model.ts'
import { scored, vetoed } from '../../../test/support/trajectories.ts'
import { type Json, type Reward, type Signal, type Store, TrajectoryId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { shownIn } from './shown.ts'

const { renderer } = scriptedModel(() => [])

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

async function shown(
  sketches: readonly SessionSketch[],
  signals: readonly Signal[],
  { reward = scored(1), longest = 1_000 }: { readonly reward?: Reward; readonly longest?: number } = {},
) {
  await recordSessions(store, renderer, sketches)
  const { trajectory } = present(await store.trajectories.get(TrajectoryId.parse('a')), 'the session')
  return shownIn({ trajectory, reward, signals }, 10_000, renderer, longest)
}

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

  it('teaches whatever its trajectory earned, and not when it is too long', async () => {
    expect((await shown([{ id: 'a' }], [ofAnswer(edit('red'))], { reward: vetoed(-1) })).demonstrations).toHaveLength(1)
    expect(await shown([], [ofAnswer(edit('red'))], { longest: 3 })).toEqual({ demonstrations: [], pairs: [] })
  })

  it('of which only the last word counts', async () => {
    const found = await shown([{ id: 'a' }], [ofAnswer(edit('red')), ofAnswer(edit('green'))])
    expect(found.demonstrations).toEqual([after(saying('green'))])
  })
})

it('a demonstration may hold tools: what they answer is context', async () => {
  const { pairs, demonstrations } = await shown(
    [{ id: 'a' }],
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
    })
  })

  it('what somebody said goes before what is guessed', async () => {
    const found = await shown(twice, [thumbs(true, 'a-c'), thumbs(false, 'two')])
    expect(found.pairs).toEqual([{ chosen: after(saying('blue')), rejected: after(saying('red')) }])
  })

  it('are none while nothing speaks for either, nor where a guard says that they were gamed', async () => {
    expect((await shown(twice, [])).pairs).toEqual([])
    expect((await shown([], [thumbs(true, 'two')], { reward: vetoed(-1) })).pairs).toEqual([])
  })
})
