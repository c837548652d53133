import { expect, it } from 'vitest'
import { attempt, expert } from '../../test/support/attempt.ts'
import { scriptedModel } from '../../test/support/scripted-model.ts'
import { type AssistantMessage, Trajectory } from '../core/index.ts'
import type { BestOf } from './best-of.ts'
import { ForcedTurns } from './forced-turns.ts'
import { policySamples } from './policy-samples.ts'

/** An episode of the expert in which these turns are said first; without `stop` the last one is cut off. */
async function forced(turns: readonly AssistantMessage[], { stop = true, best = false } = {}) {
  const { renderer, sampler, requests } = scriptedModel(expert)
  const tokens = turns.map((turn) => renderer.renderAssistant(turn, []))
  const said = stop ? tokens : tokens.map((turn, i) => (i === tokens.length - 1 ? turn.slice(0, -1) : turn))
  const by: BestOf['by'] = { name: 'first', rank: async (_, some) => some.map(() => 0) }
  const trajectory = await attempt(expert, {
    binding: { renderer, sampler, forced: new ForcedTurns(said), ...(best && { best: { of: 2, by } }) },
  })
  expect(Trajectory.parse(trajectory)).toEqual(trajectory)
  return { trajectory, requests, renderer }
}

const looks: AssistantMessage = { role: 'assistant', content: '', toolCalls: [{ name: 'look', arguments: {} }] }
const answers = (word: string): AssistantMessage => ({
  role: 'assistant',
  content: '',
  toolCalls: [{ name: 'answer', arguments: { word } }],
})

it('says them first, and then the model speaks, having read them', async () => {
  const { trajectory, requests, renderer } = await forced([looks])
  expect(trajectory.stopReason).toBe('done')
  expect(trajectory.finalState?.state).toEqual({ answer: 'plum', secret: 'plum' })
  expect(requests).toHaveLength(1)
  const prompt = renderer.decode(requests[0]?.prompt ?? [])
  expect(prompt).toContain('!look {}')
  expect(prompt).toContain('the word is plum')
})

it('records them as forced, decided by no chance, and in no sample of the policy', async () => {
  const { trajectory, renderer } = await forced([looks])
  const [first, second] = trajectory.decisions
  const spansAt = (output: string | null | undefined) => trajectory.nodes.find(({ id }) => id === output)?.spans ?? []
  expect(spansAt(first?.output)).toEqual([
    { kind: 'encoded', tokens: [...renderer.renderAssistant(looks, [])], forced: true },
  ])
  expect(first?.propensity).toEqual({ log: null, reason: 'deterministic' })
  expect(spansAt(second?.output).at(-1)?.kind).toBe('sampled')
  expect(second?.propensity).toEqual({ log: expect.any(Number) as number })
  const decided = trajectory.decisions.map((decision) => ({
    decision,
    credit: { trajectory: trajectory.id, decision: decision.id, advantage: 1 },
  }))
  const samples = policySamples.deposit(trajectory, decided)
  const trained = samples.flatMap(({ tokens, sampled }) => tokens.filter((_, i) => sampled[i]))
  expect(renderer.decode(trained)).toBe('!answer {"word":"plum"}')
})

it('may be the whole episode, or what is cut off in it; the best of several is not asked for', async () => {
  const whole = await forced([looks, answers('fig')], { best: true })
  expect(whole.requests).toEqual([])
  expect(whole.trajectory.finalState?.state).toMatchObject({ answer: 'fig' })
  const cut = await forced([{ role: 'assistant', content: 'I would' }], { stop: false })
  expect(cut.trajectory.stopReason).toBe('token-budget')
})

it('takes each turn once', () => {
  const turns = new ForcedTurns([[1], [2, 3]])
  expect([turns.take(), turns.take(), turns.take(), turns.take()]).toEqual([[1], [2, 3], null, null])
})
