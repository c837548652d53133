import { describe, expect, it } from 'vitest'
import { type TrajectorySketch, trajectoryOf } from '../../../test/support/trajectories.ts'
import type { AssistantMessage, Json, ToolCall } from '../../core/index.ts'
import { brokenCalls, noAnswer, repetition } from './index.ts'

const call = (name: string, given: Record<string, Json> = {}): ToolCall => ({ name, arguments: given })
const says = (...messages: Omit<AssistantMessage, 'role'>[]): TrajectorySketch => ({
  nodes: messages.map((message, i) => ({ id: `n${i}`, message: { role: 'assistant', ...message } })),
})
const calls = (...made: ToolCall[]) => says(...made.map((one) => ({ content: '', toolCalls: [one] })))
const broken = { text: '!x {', problem: 'not JSON' }

describe('brokenCalls', () => {
  it('vetoes the first, unless some are allowed', () => {
    const episode = trajectoryOf(says({ content: '', malformedCalls: [broken] }, { content: 'sorry' }))
    expect(brokenCalls().inspect(episode)).toContain('not JSON')
    expect(brokenCalls({ allow: 1 }).inspect(episode)).toBeNull()
    expect(brokenCalls().inspect(trajectoryOf(calls(call('x'))))).toBeNull()
  })
})

describe('noAnswer', () => {
  it('wants the answering tool to be called last', () => {
    const guard = noAnswer({ tool: 'answer' })
    expect(guard.inspect(trajectoryOf(calls(call('look'), call('answer'))))).toBeNull()
    expect(guard.inspect(trajectoryOf(calls(call('answer'), call('look'))))).toContain('without an answer')
    expect(guard.inspect(trajectoryOf(says({ content: 'It is plum.' })))).toContain('without an answer')
  })

  it('without a tool wants last words', () => {
    expect(noAnswer().inspect(trajectoryOf(says({ content: 'It is plum.' })))).toBeNull()
    expect(noAnswer().inspect(trajectoryOf(says({ content: ' \n' })))).toContain('without an answer')
  })

  it('vetoes silence', () => {
    expect(noAnswer().inspect(trajectoryOf())).toBe('the policy never spoke')
  })
})

describe('repetition', () => {
  it('counts equal calls, whatever the order of their arguments', () => {
    const same = [call('s', { a: 1, b: 2 }), call('s', { b: 2, a: 1 }), call('s', { a: 1, b: 2 })]
    expect(repetition().inspect(trajectoryOf(calls(...same)))).toContain('3 times')
    expect(repetition({ times: 4 }).inspect(trajectoryOf(calls(...same)))).toBeNull()
  })

  it('tells apart other tools and other arguments', () => {
    const other = [call('s', { a: 1 }), call('s', { a: 1 }), call('s', { a: 2 }), call('t', { a: 1 })]
    expect(repetition().inspect(trajectoryOf(calls(...other)))).toBeNull()
  })
})

it('options are part of a guard’s identity', () => {
  const identities = [brokenCalls(), brokenCalls({ allow: 1 }), noAnswer(), noAnswer({ tool: 'x' }), repetition()].map(
    ({ identity }) => identity,
  )
  expect(new Set(identities).size).toBe(5)
})
