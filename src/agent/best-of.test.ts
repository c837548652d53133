import { describe, expect, it } from 'vitest'
import { attempt, expert } from '../../test/support/attempt.ts'
import { answeredRight } from '../../test/support/word-environment.ts'
import type { Script } from '../../test/support/scripted-model.ts'
import { type Candidate, type Message, type Ranker, toolCallsOf, Trajectory } from '../core/index.ts'
import { type BestOf, context, defineAgent, user, weights } from './index.ts'
import { policySamples } from './policy-samples.ts'

/** Looks, and then answers with one of four words, of which one was shown. */
const guesses: Script = (prompt) =>
  prompt.includes('the word is')
    ? ['lime', 'plum', 'cherry', 'lemon'].map((word) => `!answer {"word":"${word}"}`)
    : ['!look {}']

/** Whether a candidate says what was read. */
const asRead: Ranker = {
  name: 'as read',
  rank: (read, candidates) =>
    Promise.resolve(
      candidates.map(({ message }) =>
        Number(
          toolCallsOf(message).some(
            ({ arguments: { word } }) =>
              typeof word === 'string' && read.at(-1)?.content.includes(`the word is ${word}`),
          ),
        ),
      ),
    ),
}

const agentThat = (best?: BestOf, inContext = false) =>
  defineAgent({
    name: 'agent',
    parameters: { model: weights({ base: 'scripted' }) },
    run: (task, { model }, episode) =>
      model.act([user(task.instruction)], episode, {
        ...(best && { best }),
        ...(inContext && { context: context() }),
      }),
  })

describe('the best of several', () => {
  it('is said at each turn, and recorded as no sample of the policy', async () => {
    for (const inContext of [false, true]) {
      const trajectory = await attempt(guesses, { agent: agentThat({ of: 32, by: asRead }, inContext) })
      expect(Trajectory.parse(trajectory)).toEqual(trajectory)
      expect(answeredRight({ state: trajectory.finalState?.state })).toBe(1)
      const sampled = trajectory.nodes.flatMap(({ spans }) => spans.filter(({ kind }) => kind === 'sampled'))
      expect(sampled).toHaveLength(2)
      for (const span of sampled)
        expect(span).toMatchObject({ behaviourLogprobs: null, logprobs: expect.any(Array) as number[] })
      expect(trajectory.decisions.map(({ propensity }) => propensity)).toEqual([
        { log: null, reason: 'not-recorded' },
        { log: null, reason: 'not-recorded' },
      ])
      const decided = trajectory.decisions.map((decision) => ({
        decision,
        credit: { trajectory: trajectory.id, decision: decision.id, advantage: 1 },
      }))
      expect(policySamples.deposit(trajectory, decided)).toEqual([])
    }
    const plain = await attempt(guesses, { agent: agentThat() })
    expect(plain.decisions[0]?.propensity).toEqual({ log: 0 })
  })

  it('is chosen from what the policy read and how likely each is; of equal ones the first', async () => {
    const asked: { read: readonly Message[]; candidates: readonly Candidate[] }[] = []
    const by: Ranker = {
      name: 'none',
      rank: (read, candidates) => {
        asked.push({ read, candidates })
        return Promise.resolve(candidates.map(() => 0))
      },
    }
    const trajectory = await attempt(guesses, { agent: agentThat({ of: 3, by }) })
    const messages = trajectory.nodes.map(({ message }) => message)
    expect(asked.map(({ read }) => read)).toEqual([messages.slice(0, 1), messages.slice(0, 3)])
    expect(asked.map(({ candidates }) => candidates.length)).toEqual([3, 3])
    expect(messages[3]).toEqual(asked[1]?.candidates[0]?.message)
    for (const { logprob } of asked[1]?.candidates ?? []) expect(logprob).toBeCloseTo(Math.log(1 / 4), 12)
    // The budget counts what is said.
    const [look] = trajectory.nodes.flatMap(({ spans }) => spans.filter(({ kind }) => kind === 'sampled'))
    const tokens = (look?.tokens.length ?? 0) + 20
    expect(
      (
        await attempt(guesses, {
          agent: agentThat({ of: 30, by }),
          binding: { budget: { turns: 2, tokens, tokensPerTurn: 20, malformedCalls: 1, toolErrors: 1 } },
        })
      ).stopReason,
    ).toBe('done')
  })

  it('repeats', async () => {
    const twice = await Promise.all([1, 2].map(() => attempt(guesses, { agent: agentThat({ of: 2, by: asRead }) })))
    expect(twice[1]).toEqual(twice[0])
  })

  it('ends with its episode, where nobody waits for it', async () => {
    const stop = new AbortController()
    const late: Script = (prompt, request) => {
      if (prompt.includes('the word is')) stop.abort()
      return expert(prompt, request)
    }
    const trajectory = await attempt(late, {
      agent: agentThat({ of: 2, by: asRead }),
      binding: { signal: stop.signal },
    })
    expect(trajectory.stopReason).toBe('cancelled')
  })

  it('needs two at least, and a number for each', async () => {
    for (const of of [1, 0, 1.5, Number.NaN]) {
      const { stopReason, failure } = await attempt(expert, { agent: agentThat({ of, by: asRead }) })
      expect({ stopReason, code: failure?.code }).toEqual({ stopReason: 'agent-error', code: 'agent/bad-best-of' })
    }
    for (const scores of [[], [1], [1, Number.NaN], [1, 2, 3]]) {
      const by: Ranker = { name: 'broken', rank: () => Promise.resolve(scores) }
      const { stopReason, failure } = await attempt(expert, { agent: agentThat({ of: 2, by }) })
      expect({ stopReason, code: failure?.code }).toEqual({ stopReason: 'agent-error', code: 'agent/bad-ranking' })
    }
  })
})
