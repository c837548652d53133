import { describe, expect, it } from 'vitest'
import { type AttemptOptions, attempt, expert } from '../../test/support/attempt.ts'
import { type Script, scriptedModel } from '../../test/support/scripted-model.ts'
import { wordEnvironment } from '../../test/support/word-environment.ts'
import { type Environment, sampledTokens, Trajectory } from '../core/index.ts'
import { defineAgent } from './agent.ts'
import { defaultBudget, type EpisodeBudget } from './budget.ts'
import { user, weights } from './parameters.ts'

const budget = (change: Partial<EpisodeBudget>): AttemptOptions => ({
  binding: { budget: { ...defaultBudget, ...change } },
})
const contents = ({ nodes }: Trajectory) => nodes.map(({ message }) => message.content)

it('calls tools, reads their results, and answers', async () => {
  const trajectory = await attempt(expert)
  expect(trajectory.stopReason).toBe('done')
  expect(trajectory.finalState).toEqual({ state: { answer: 'plum', secret: 'plum' }, counts: { look: 1 } })
  expect(trajectory.nodes.map(({ message }) => message.role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'tool',
  ])
  expect(trajectory.steps).toEqual([
    { index: 0, action: 'n1', observations: ['n2'], decisions: ['d0'] },
    { index: 1, action: 'n3', observations: ['n4'], decisions: ['d1'] },
  ])
  expect(Trajectory.parse(trajectory)).toEqual(trajectory)
})

it('never shows the policy what ended the episode', async () => {
  const last = (await attempt(expert)).nodes.at(-1)
  expect(last?.message.content).toBe('answered')
  expect(last?.spans).toEqual([])
})

describe('stop reasons', () => {
  const look: Script = () => ['!look {}']
  const chat: Script = () => ['well well well well']
  const broken: Script = () => ['!look {oops']
  const wrong: Script = () => ['!fly {}']

  it('turn-budget: the policy may speak so many times', async () => {
    const trajectory = await attempt(look, budget({ turns: 3 }))
    expect(trajectory.stopReason).toBe('turn-budget')
    expect(trajectory.steps.length).toBe(3)
  })

  it('token-budget: never more tokens than the episode may sample', async () => {
    const trajectory = await attempt(look, budget({ tokens: 9 }))
    // `!look`, a space, `{}` and the end: four tokens a turn. The third call is cut after one token: no call at all.
    expect(trajectory.stopReason).toBe('malformed-call')
    expect(sampledTokens(trajectory)).toBe(9)
    expect((await attempt(look, budget({ tokens: 8 }))).stopReason).toBe('token-budget')
  })

  it('token-budget: a message that was cut off is no message', async () => {
    const trajectory = await attempt(chat, budget({ tokensPerTurn: 4 }))
    expect(trajectory.stopReason).toBe('token-budget')
    expect(contents(trajectory)).not.toContain('Call look or answer.')
    expect(contents(await attempt(chat, budget({ turns: 1 })))).toContain('Call look or answer.')
  })

  it('context-length: what the sampler can read is not exceeded', async () => {
    const opening = (await attempt(look)).nodes[0]?.spans[0]?.tokens.length ?? 0
    const within = (contextLength: number) => attempt(look, { contextLength, ...budget({ tokensPerTurn: 8 }) })
    const barely = await within(opening + 8)
    expect([barely.stopReason, barely.steps.length]).toEqual(['context-length', 1])
    const none = await within(opening + 7)
    expect([none.stopReason, none.steps.length]).toEqual(['context-length', 0])
    const behind = (positions: number) =>
      attempt(look, {
        contextLength: opening + 10,
        binding: { budget: { ...defaultBudget, tokensPerTurn: 8 }, adapter: { kind: 'adapter', id: 'a', positions } },
      })
    expect((await behind(2)).steps).toHaveLength(1)
    expect((await behind(3)).steps).toHaveLength(0)
  })

  it('time-budget: no policy call begins after the deadline', async () => {
    let clock = 0
    const slow: Script = () => {
      clock += 400
      return ['!look {}']
    }
    const trajectory = await attempt(slow, { ...budget({ seconds: 1 }), now: () => clock })
    expect(trajectory.stopReason).toBe('time-budget')
    expect(trajectory.steps.length).toBe(3)
    expect(trajectory.seconds).toBe(1.2)
  })

  it('malformed-call: final at the first, when none is allowed', async () => {
    const trajectory = await attempt(broken)
    expect(trajectory.stopReason).toBe('malformed-call')
    expect(trajectory.steps.length).toBe(1)
  })

  it('malformed-call: shown back as errors within their budget', async () => {
    let turn = 0
    const learns: Script = (prompt) => (turn++ === 0 ? ['!look {oops'] : expert(prompt, undefined as never))
    const trajectory = await attempt(learns, budget({ malformedCalls: 2 }))
    expect(trajectory.stopReason).toBe('done')
    expect(trajectory.nodes[2]?.message).toEqual({
      role: 'tool',
      name: 'call',
      content: 'the arguments of look are not JSON',
      isError: true,
    })
    expect((await attempt(broken, budget({ malformedCalls: 3 }))).steps.length).toBe(3)
    expect((await attempt(expert, budget({ malformedCalls: 0 }))).stopReason).toBe('done')
  })

  it('tool-errors: so many calls may fail', async () => {
    const trajectory = await attempt(wrong, budget({ toolErrors: 2 }))
    expect(trajectory.stopReason).toBe('tool-errors')
    expect(trajectory.steps.length).toBe(2)
    expect((await attempt(expert, budget({ toolErrors: 0 }))).stopReason).toBe('done')
  })

  it('done wins over an error in the same step', async () => {
    const both: Script = () => ['!fly {}\n!answer {"word":"plum"}']
    expect((await attempt(both, budget({ toolErrors: 1 }))).stopReason).toBe('done')
  })

  it('cancelled: before, between and during policy calls', async () => {
    expect((await attempt(look, { binding: { signal: AbortSignal.abort() } })).steps).toEqual([])

    const during = new AbortController()
    const hangs: Script = () => {
      queueMicrotask(() => during.abort())
      return new Promise(() => {})
    }
    const hung = await attempt(hangs, { binding: { signal: during.signal } })
    expect(hung).toMatchObject({ stopReason: 'cancelled', failure: null })

    const between = new AbortController()
    const stops: Environment = {
      name: 'stops',
      async open(task, seed) {
        const episode = await wordEnvironment.open(task, seed)
        return {
          opening: episode.opening,
          tools: episode.tools,
          close: () => episode.close(),
          step(action) {
            between.abort()
            return episode.step(action)
          },
        }
      },
    }
    const stopped = await attempt(look, { environment: stops, binding: { signal: between.signal } })
    expect(stopped.stopReason).toBe('cancelled')
    expect(stopped.steps.length).toBe(1)
  })

  it('cancelled: also when the sampler throws because it was aborted', async () => {
    const controller = new AbortController()
    const throws: Script = () => {
      controller.abort()
      throw new Error('aborted')
    }
    const trajectory = await attempt(throws, { binding: { signal: controller.signal } })
    expect(trajectory).toMatchObject({ stopReason: 'cancelled', failure: null })
  })
})

it('half a call, cut by cancelling, is not the policy’s mistake', async () => {
  const { sampler, renderer } = scriptedModel(expert)
  const tokens = renderer.renderAssistant({ role: 'assistant', content: '!look {"fa' }, [])
  const logprobs = tokens.map(() => -1)
  const sequence = { tokens, behaviourLogprobs: logprobs, logprobs, stopReason: 'cancelled' as const }
  const binding = { renderer, sampler: { ...sampler, sample: () => Promise.resolve([sequence]) } }
  const trajectory = await attempt(expert, { binding })
  expect(trajectory.nodes[1]?.message).toMatchObject({ malformedCalls: [{ text: '!look {"fa' }] })
  expect(trajectory.stopReason).toBe('cancelled')
})

it('a cancelled agent gets no half answers to go on with', async () => {
  const controller = new AbortController()
  const answers: string[] = []
  const stubborn = defineAgent({
    name: 'stubborn',
    parameters: { model: weights({ base: 'scripted' }) },
    async run(_, { model }) {
      for (;;) answers.push(await model.complete([user('done?')]))
    },
  })
  const hangs: Script = () => {
    queueMicrotask(() => controller.abort())
    return new Promise(() => {})
  }
  const trajectory = await attempt(hangs, { agent: stubborn, binding: { signal: controller.signal } })
  expect(trajectory).toMatchObject({ stopReason: 'cancelled', failure: null })
  expect(trajectory.steps.length).toBe(1)
  expect(answers).toEqual([])
})

it('one budget covers every way in which an agent calls its model', async () => {
  const chatty = defineAgent({
    name: 'chatty',
    parameters: { model: weights({ base: 'scripted' }) },
    async run(_, { model }, episode) {
      for (let i = 0; i < 3; i++) await model.complete([user('think')])
      return model.act([user('act')], episode)
    },
  })
  const spent = await attempt(() => ['!look {}'], { agent: chatty, ...budget({ turns: 5 }) })
  expect(spent.stopReason).toBe('turn-budget')
  expect(spent.steps.length).toBe(5)
  const early = await attempt(() => ['!look {}'], { agent: chatty, ...budget({ turns: 2 }) })
  expect(early).toMatchObject({ stopReason: 'turn-budget', failure: null })
  expect(early.steps.length).toBe(2)
})
