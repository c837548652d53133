import { describe, expect, it } from 'vitest'
import { stateOf } from './earlier-state.ts'
import { initialState, initialWeights } from './state.ts'

/** What a run over rollouts kept when it and one over traffic were two programs. */
const rolloutState = {
  phase: 'improve',
  passes: 4,
  update: 7,
  looks: [],
  standing: { a: { attempts: 3, successes: 1 } },
  steady: null,
  signs: [],
  stride: { scale: 0.5, most: 1 },
  recoveries: 0,
  successes: [],
  episodes: 96,
  stopped: null,
  best: { update: 0, success: 0.5, rose: false },
  validated: 0,
  risen: null,
  use: null,
  events: 12,
  checkpoints: 11,
  tokensSampled: 900,
  tokensTrained: 800,
  learningSeconds: 10,
  seconds: 12,
}

describe('the state of a checkpoint', () => {
  it('is read back as it was written', () => {
    const weights = { searcher: initialWeights, answerer: { ...initialWeights, passes: 3 } }
    const state = { ...initialState, phase: 'judge', update: 9, weights } as const
    expect(stateOf(JSON.parse(JSON.stringify(state)), ['searcher', 'answerer'])).toEqual(state)
  })

  it.each([
    ['prime', 'learn', 'prime'],
    ['improve', 'learn', 'practise'],
    ['test', 'learn', 'control'],
  ])('of an earlier version, over rollouts, goes on from %s', (phase, now, stage) => {
    const { passes, stride, ...ofRun } = rolloutState
    const weights = { model: { ...initialWeights, passes, stride } }
    expect(stateOf({ ...rolloutState, phase }, ['model'])).toEqual({
      ...initialState,
      ...ofRun,
      weights,
      phase: now,
      stage,
    })
  })

  it.each([
    ['gather', 'learn', 'gather'],
    ['anchor', 'learn', 'anchor'],
    ['practise', 'learn', 'practise'],
    ['imitate', 'learn', 'imitate'],
    ['prefer', 'learn', 'prefer'],
    ['judge', 'judge', null],
    ['serve', 'release', null],
  ])('of an earlier version, over traffic, goes on from %s', (phase, now, stage) => {
    const { report, reason } = initialState
    const ofWeights = { passes: 1, preferences: 0, epochs: 2, replayed: 5, divergence: { ratio: 1, kl: 0.01 } }
    const ofRun = { report, reason, events: 3 }
    const weights = { model: { ...initialWeights, ...ofWeights } }
    expect(stateOf({ phase, ...ofRun, ...ofWeights }, ['model'])).toEqual({
      ...initialState,
      ...ofRun,
      weights,
      phase: now,
      stage,
    })
  })

  it('of an earlier version that trained no weights goes on without any', () => {
    expect(stateOf({ ...rolloutState, phase: 'improve' }, []).weights).toEqual({})
  })

  it('of a version that called the stage `learning` goes on from there', () => {
    const { stage: _, ...state } = { ...initialState, update: 7 }
    expect(stateOf({ ...state, learning: 'practise' }, [])).toEqual({ ...state, stage: 'practise' })
  })

  it('of a later version is refused, with what to do', () => {
    const later = { ...initialState, phase: 'dream' }
    expect(() => stateOf(later, [])).toThrow(expect.objectContaining({ code: 'learn/other-version' }))
    expect(() => stateOf({ ...initialState, hunches: 3 }, [])).toThrow('written by another version')
  })
})
