import { describe, expect, it } from 'vitest'
import { type Message, VersionId } from '../core/index.ts'
import { Deeds } from './outcome.ts'
import { Recorder } from './recorder.ts'
import { shownMessage, shownText } from './sources.ts'

const propensity = { log: null, reason: 'deterministic' } as const
const inForce = (version: string) => ({ version: VersionId.parse(version), generation: 1, checkpoint: null })
const weights = { parameter: 'model', kind: 'weights', inForce: inForce('v'), inputs: [], propensity } as const
const holds = (version: string) => ({ parameter: 'hint', kind: 'text', inForce: inForce(version), propensity }) as const

/** Records that the policy said something, at a root of its own. */
function says(recorder: Recorder, content: string) {
  const message = { role: 'assistant', content } as const
  const decision = recorder.decide({ ...weights, output: recorder.place(message, null) })
  recorder.said(message, decision)
  return decision
}

const answer = (content: string) => ({ kind: 'message', content }) as const
const noise = (size: number) => {
  let state = 1
  const words: string[] = []
  for (let length = 0; length < size; length += 8) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    words.push(state.toString(36).slice(0, 7), state % 11 === 0 ? '\n' : ' ')
  }
  return words.join('')
}
const lines = noise(100_000)

describe('however much was said, what is new is looked through in proportion to its own length', () => {
  it.each<[string, (i: number) => string]>([
    ['all different', (i) => lines.replaceAll('\n', ` ${i}\n`)],
    ['all alike but for the end', (i) => `${'a'.repeat(100_000)} ${i}`],
    ['words that repeat', (i) => `${'a '.repeat(50_000)}${i}`],
  ])('200 messages of 100 KB, %s', (_, text) => {
    const recorder = new Recorder()
    for (let i = 0; i < 200; i++) {
      const said = text(i)
      const message: Message = { role: 'user', content: `${said}!` }
      recorder.originsOf(shownMessage(message), recorder.place(message, null))
      says(recorder, said)
    }
    expect(recorder.finish().decisions).toHaveLength(200)
  })
})

describe('where not everything is found that something comes from', () => {
  const steps = (recorder: Recorder) => {
    for (let i = 1; i < 1000; i++) says(recorder, `${'a '.repeat(i)}b`)
  }

  it('the outcome is left open', () => {
    const outcomes = [false, true].map((hostile) => {
      const recorder = new Recorder()
      const deeds = new Deeds(recorder)
      steps(recorder)
      says(recorder, 'a plum')
      if (hostile) recorder.originsOf(shownText('a '.repeat(50_000)), null)
      expect(recorder.lostTrack).toBe(hostile)
      deeds.act(answer('a plum'))
      return deeds.inputs(recorder.finish())
    })
    expect(outcomes).toEqual([['n999'], null])
  })

  it('the texts of which nothing is recorded are, so that they can count too', () => {
    const recorder = new Recorder()
    recorder.decidedMessage({ role: 'system', content: 'Be brief.' }, holds('h1'))
    recorder.decidedMessage({ role: 'system', content: 'Be brief.' }, holds('h1'))
    recorder.decidedMessage({ role: 'system', content: 'Be kind.' }, holds('h2'))
    steps(recorder)
    const origins = recorder.originsOf(shownText('a '.repeat(50_000)), null)
    expect(origins.map(({ decision, isNew }) => [decision.version, isNew])).toEqual([
      ['h1', true],
      ['h2', true],
    ])
  })

  it('because it quotes more than can be told apart, it names no more than that', () => {
    const recorder = new Recorder()
    for (let i = 0; i < 256; i++) says(recorder, 'yes')
    expect(recorder.originsOf(shownText('yes or no?'), null)).toHaveLength(256)
    expect(recorder.lostTrack).toBe(false)
    says(recorder, 'yes')
    expect(recorder.originsOf(shownText('yes or no?'), null)).toHaveLength(256)
    expect(recorder.lostTrack).toBe(true)
  })
})

describe('of the uses of one Version', () => {
  it('one that is recorded is found, and one that is not on the path', () => {
    const recorder = new Recorder()
    const messages = [0, 1].map((): Message => ({ role: 'system', content: 'Be brief.' }))
    for (const message of messages) recorder.decidedMessage(message, holds('h1'))
    const [, second] = messages.map((message) => recorder.place({ ...message }, null))
    const [origin] = messages.slice(1).flatMap((message) => recorder.originsOf(shownMessage(message), second ?? null))
    expect(origin).toMatchObject({ isNew: true, decision: { id: 'd0', output: second } })
    const quote = shownText('Rule: Be brief.')
    expect(recorder.originsOf(quote, null)).toMatchObject([{ isNew: false, decision: { id: 'd0' } }])
    const path = new Set(second ? [second] : [])
    expect(recorder.originsOf(quote, null, path)).toMatchObject([{ isNew: true, decision: { id: 'd1', output: null } }])
  })
})
