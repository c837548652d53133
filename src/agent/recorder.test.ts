import { describe, expect, it } from 'vitest'
import { sampledSpan } from '../../test/support/trajectories.ts'
import { type Message, VersionId } from '../core/index.ts'
import { currentRecorder, Recorder, recording } from './recorder.ts'
import { shownMessage } from './sources.ts'

const say = (content: string): Message => ({ role: 'user', content })
const inForce = { version: VersionId.parse('v0'), generation: 1, checkpoint: null }
const propensity = { log: null, reason: 'deterministic' } as const

describe('place', () => {
  it('stores a history that conversations share once', () => {
    const recorder = new Recorder()
    const [first, second, other] = [say('first'), say('second'), say('other')]
    const root = recorder.place(first, null)
    const leaf = recorder.place(second, root)
    expect(recorder.place(first, null)).toBe(root)
    expect(recorder.place(second, root)).toBe(leaf)
    recorder.place(other, root)
    expect(recorder.finish().nodes.map(({ id, parent }) => [id, parent])).toEqual([
      ['n0', null],
      ['n1', 'n0'],
      ['n2', 'n0'],
    ])
  })

  it('tells apart equal texts, and the same message at another place', () => {
    const recorder = new Recorder()
    const message = say('again')
    const places = [null, recorder.place(say('again'), null), null] as const
    const nodes = places.map((parent) => recorder.place(message, parent))
    expect(nodes[0]).toBe(nodes[2])
    expect(new Set([...nodes, places[1]]).size).toBe(3)
    expect(recorder.place(message, places[1])).toBe(nodes[1])
  })

  it('never shares what carries tokens: they were rendered for one branch', () => {
    const recorder = new Recorder()
    const message = say('hello')
    const carrying = recorder.place(message, null, [sampledSpan([1])])
    const bare = recorder.place(message, null)
    expect(bare).not.toBe(carrying)
    expect(recorder.place(message, null, [sampledSpan([1])])).not.toBe(carrying)
    expect(recorder.place(message, null)).toBe(bare)
  })

  it('records the Decision that a message is, the first time that it is placed', () => {
    const recorder = new Recorder()
    const message = say('Be brief.')
    recorder.decidedMessage(message, { parameter: 'system', kind: 'text', inForce, propensity })
    const node = recorder.place(message, null)
    const [origin] = recorder.originsOf(shownMessage(message), node)
    expect(origin).toMatchObject({
      isNew: true,
      decision: { parameter: 'system', output: node, version: 'v0', generation: 1, propensity },
    })
    expect(recorder.originsOf(shownMessage(message), node)).toEqual([{ ...origin, isNew: false }])
    expect(recorder.finish().decisions).toEqual([origin?.decision])
  })
})

it('a Step gathers the Decisions that led to it, whenever they were made', () => {
  const recorder = new Recorder()
  const draft = { parameter: 'p', kind: 'text', inForce, inputs: [], output: null, propensity } as const
  const [early, parallel] = [recorder.decide(draft), recorder.decide(draft)]
  const action = recorder.place(say(''), null)
  expect(recorder.step(action, [parallel])).toBe(0)
  expect(recorder.step(action, [early, recorder.decide(draft)])).toBe(1)
  const { steps, decisions } = recorder.finish()
  expect(steps.map((step) => step.decisions)).toEqual([['d1'], ['d0', 'd2']])
  expect(decisions.map(({ step }) => step)).toEqual([1, 0, 1])
})

it('counts visits by position', () => {
  const recorder = new Recorder()
  expect(['a', 'b', 'a', 'a'].map((position) => recorder.visit(position))).toEqual([0, 0, 1, 2])
})

describe('recording', () => {
  it('is in force through awaits, timers, parallel branches and nested calls, each episode with its own', async () => {
    const branch = async (): Promise<Recorder> => {
      await new Promise((resolve) => setTimeout(resolve, 0))
      return currentRecorder()
    }
    const recorders = [new Recorder(), new Recorder()]
    const seen = await Promise.all(
      recorders.map((recorder) => recording(recorder, () => Promise.all([branch(), Promise.resolve().then(branch)]))),
    )
    expect(seen.map((pair) => pair.map((recorder) => recorders.indexOf(recorder)))).toEqual([
      [0, 0],
      [1, 1],
    ])
  })

  it('is in force only there', async () => {
    await recording(new Recorder(), () => Promise.resolve())
    expect(() => currentRecorder()).toThrow('outside an episode')
  })
})
