import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodedSpan, type NodeSketch, sampledSpan, trajectoryOf } from '../../test/support/trajectories.ts'
import { type Credit, type CreditedDecision, DecisionId, type Trajectory } from '../core/index.ts'
import { backward, type CreditedBatch } from './backward.ts'
import { critiques } from './critiques.ts'
import { policySamples } from './policy-samples.ts'

const creditsOf = ({ id, decisions }: Trajectory, ...advantages: (number | null)[]): Credit[] =>
  decisions.flatMap((decision, i) => {
    const advantage = advantages[i]
    return advantage === undefined ? [] : [{ trajectory: id, decision: decision.id, advantage }]
  })

const onWeights = (batch: CreditedBatch, parameter = 'model') => backward(batch, { parameter, rule: policySamples })

/** Two turns: read 1 2, say 3 4, read 5, say 6. */
const twoTurns: readonly NodeSketch[] = [
  { id: 'n0', spans: [encodedSpan([1, 2])] },
  { id: 'n1', parent: 'n0', spans: [sampledSpan([3, 4], -0.5)] },
  { id: 'n2', parent: 'n1', spans: [encodedSpan([5])] },
  { id: 'n3', parent: 'n2', spans: [sampledSpan([6], -0.25)] },
]

describe('on weights', () => {
  it('leaves each decision’s advantage on the tokens that it sampled, and on no other', () => {
    const trajectory = trajectoryOf({ nodes: twoTurns, decisions: [{ output: 'n1' }, { output: 'n3' }] })
    expect(onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, 2, -1) })).toEqual([
      {
        parameter: 'model',
        version: 'v0',
        deposits: [
          {
            trajectory: 't0',
            group: 'g',
            acted: { model: ['v0'] },
            tokens: [1, 2, 3, 4, 5, 6],
            advantages: [0, 0, 2, 2, 0, -1],
            behaviourLogprobs: [0, 0, -0.5, -0.5, 0, -0.25],
            sampled: [false, false, true, true, false, true],
            temperature: 1,
            truncated: false,
          },
        ],
      },
    ])
  })

  it('does not touch tokens of decisions without credit (their reward is missing)', () => {
    const trajectory = trajectoryOf({ nodes: twoTurns, decisions: [{ output: 'n1' }, { output: 'n3' }] })
    const [gradient] = onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, null, 1) })
    expect(gradient?.deposits[0]?.sampled).toEqual([false, false, false, false, false, true])
    expect(gradient?.deposits[0]?.behaviourLogprobs[2]).toBe(0)
    expect(onWeights({ trajectories: [trajectory], credits: [] })).toEqual([])
    const allNull = onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, null, null) })
    expect(allNull.flatMap(({ deposits }) => deposits)).toEqual([])
  })

  it('counts a token with advantage 0 as sampled: it is part of the mean', () => {
    const trajectory = trajectoryOf({ nodes: twoTurns, decisions: [{ output: 'n1' }] })
    const [gradient] = onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, 0) })
    expect(gradient?.deposits[0]?.sampled.filter(Boolean).length).toBe(2)
  })

  it('gives each Parameter and Version its own tokens; the others’ are context', () => {
    const trajectory = trajectoryOf({
      nodes: twoTurns,
      decisions: [{ output: 'n1' }, { output: 'n3', parameter: 'critic', version: 'c1' }],
    })
    const batch = { trajectories: [trajectory], credits: creditsOf(trajectory, 1, 3) }
    const advantagesOf = (parameter: string) =>
      onWeights(batch, parameter).map(({ version, deposits }) => [version, deposits[0]?.advantages])
    expect(advantagesOf('model')).toEqual([['v0', [0, 0, 1, 1, 0, 0]]])
    expect(advantagesOf('critic')).toEqual([['c1', [0, 0, 0, 0, 0, 3]]])
  })

  it('never learns from encoded tokens, even where a decision claims them', () => {
    const trajectory = trajectoryOf({ nodes: twoTurns, decisions: [{ output: 'n2' }] })
    const gradients = onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, 1) })
    expect(gradients.flatMap(({ deposits }) => deposits)).toEqual([])
  })

  it('says when any token was drawn from a cut distribution, and at what temperature', () => {
    const nodes = [
      { id: 'n0', spans: [sampledSpan([1], -1, 0.7)] },
      { id: 'n1', parent: 'n0', spans: [sampledSpan([2], -1, 0.7, true)] },
    ]
    const trajectory = trajectoryOf({ nodes, decisions: [{ output: 'n0' }, { output: 'n1' }] })
    const sampleWith = (...advantages: (number | null)[]) =>
      onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, ...advantages) })[0]?.deposits[0]
    expect(sampleWith(1, 1)).toMatchObject({ temperature: 0.7, truncated: true })
    // Context may be cut: only what is learnt from has to be reproduced.
    expect(sampleWith(1, null)).toMatchObject({ temperature: 0.7, truncated: false })
  })

  it('refuses a sample drawn at two temperatures', () => {
    const nodes = [
      { id: 'n0', spans: [sampledSpan([1], -1, 0.7)] },
      { id: 'n1', parent: 'n0', spans: [sampledSpan([2], -1, 1)] },
    ]
    const trajectory = trajectoryOf({ nodes, decisions: [{ output: 'n0' }, { output: 'n1' }] })
    expect(() => onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, 1, 1) })).toThrow(
      'temperatures 0.7 and 1',
    )
  })

  it('does not confuse trajectories and decisions whose names run together', () => {
    const decision = { output: 'n1' }
    const trajectories = ['a', 'a b'].map((id) => trajectoryOf({ id, nodes: twoTurns, decisions: [decision] }))
    const renamed = trajectories.map((trajectory, i) => ({
      ...trajectory,
      decisions: trajectory.decisions.map((made) => ({ ...made, id: DecisionId.parse(i === 0 ? 'b c' : 'c') })),
    }))
    const credits = renamed.flatMap((trajectory, i) => creditsOf(trajectory, i + 1))
    const [gradient] = onWeights({ trajectories: renamed, credits })
    expect(gradient?.deposits.map(({ advantages }) => Math.max(...advantages))).toEqual([1, 2])
  })
})

describe('on branches', () => {
  /** A random tree in which every node samples one token, unique to it; each is a decision with its own advantage. */
  const tree = fc.array(fc.record({ parent: fc.nat(), sampled: fc.boolean() }), { minLength: 1, maxLength: 25 })

  it('each sampled token enters once whatever the branches, with its own advantage; no other token carries one', () => {
    fc.assert(
      fc.property(tree, (picks) => {
        const trajectory = trajectoryOf({
          nodes: picks.map(({ parent, sampled }, i) => ({
            id: `n${i}`,
            ...(i === 0 ? {} : { parent: `n${parent % i}` }),
            spans: [sampled ? sampledSpan([i], -1 - i) : encodedSpan([i])],
          })),
          decisions: picks.map((_, i) => ({ output: `n${i}` })),
        })
        const credits = creditsOf(trajectory, ...picks.map((_, i) => i + 1))
        const samples = onWeights({ trajectories: [trajectory], credits }).flatMap(({ deposits }) => deposits)

        const entered = samples.flatMap(({ tokens, sampled }) => tokens.filter((_, t) => sampled[t]))
        expect(entered.toSorted((a, b) => a - b)).toEqual(picks.flatMap(({ sampled }, i) => (sampled ? [i] : [])))
        for (const { tokens, sampled, advantages, behaviourLogprobs } of samples) {
          tokens.forEach((token, t) => {
            expect(advantages[t]).toBe(sampled[t] ? token + 1 : 0)
            expect(behaviourLogprobs[t]).toBe(sampled[t] ? -1 - token : 0)
          })
        }
      }),
    )
  })

  it('keeps the whole path as context', () => {
    const nodes = [
      ...twoTurns,
      { id: 'm2', parent: 'n1', spans: [encodedSpan([7])] },
      { id: 'm3', parent: 'm2', spans: [sampledSpan([8])] },
    ]
    const trajectory = trajectoryOf({ nodes, decisions: [{ output: 'n1' }, { output: 'n3' }, { output: 'm3' }] })
    const [gradient] = onWeights({ trajectories: [trajectory], credits: creditsOf(trajectory, 1, 1, 1) })
    expect(gradient?.deposits.map(({ tokens, sampled }) => [tokens, sampled.map(Number)])).toEqual([
      [
        [1, 2, 3, 4, 5, 6],
        [0, 0, 1, 1, 0, 1],
      ],
      [
        [1, 2, 3, 4, 7, 8],
        [0, 0, 0, 0, 0, 1],
      ],
    ])
  })
})

describe('on text', () => {
  it('leaves one critique a decision, with its advantage', () => {
    const decisions = [{ kind: 'text' as const, parameter: 'system', version: 's1', output: 'n0' }]
    const [good, bad] = [trajectoryOf({ id: 'good', decisions }), trajectoryOf({ id: 'bad', decisions })]
    const [first] = creditsOf(good, 1)
    const credits = [{ ...first, critique: 'Too terse.' } as Credit, ...creditsOf(bad, -1)]
    const learns = { parameter: 'system', rule: critiques }
    expect(backward({ trajectories: [good, bad], credits }, learns)).toEqual([
      {
        parameter: 'system',
        version: 's1',
        deposits: [
          { advantage: 1, utility: null, critique: 'Too terse.', trajectory: good },
          { advantage: -1, utility: null, critique: null, trajectory: bad },
        ],
      },
    ])
  })
})

it('deposits what the rule of a kind of one’s own says, on what learns, and nothing on what does not', () => {
  const trajectory = trajectoryOf({
    nodes: twoTurns,
    decisions: [{ output: 'n1' }, { kind: 'choice', parameter: 'route', version: 'r1', output: 'n3' }],
  })
  const batch = { trajectories: [trajectory], credits: creditsOf(trajectory, 1, -2) }
  const rule = {
    kind: 'choice',
    deposit: (_: Trajectory, decided: readonly CreditedDecision[]) => decided.map(({ credit }) => credit.advantage),
  }
  expect(backward(batch, { parameter: 'route', rule })).toEqual([{ parameter: 'route', version: 'r1', deposits: [-2] }])
  expect(backward(batch, { parameter: 'nothing', rule })).toEqual([])
  expect(() => backward(batch, { parameter: 'model', rule })).toThrow('learns as choice and made a decision of kind')
})

it('refuses to learn from a held-out task (invariant 6)', () => {
  const learnt = trajectoryOf({ nodes: twoTurns, decisions: [{ output: 'n1' }] })
  const heldOut: Trajectory = { ...learnt, task: { ...learnt.task, split: 'holdout' } }
  expect(() => onWeights({ trajectories: [heldOut], credits: creditsOf(heldOut, 1) })).toThrow('held-out task "task"')
})

it('takes ten thousand trajectories in one go, in their order', () => {
  const trajectories = Array.from({ length: 10_000 }, (_, i) =>
    trajectoryOf({ id: `t${i}`, nodes: twoTurns, decisions: [{ output: 'n1' }, { output: 'n3' }] }),
  )
  const credits = trajectories.flatMap((trajectory, i) => creditsOf(trajectory, i, i))
  const [gradient] = onWeights({ trajectories, credits })
  expect(gradient?.deposits.length).toBe(10_000)
  expect(gradient?.deposits[9_999]?.advantages[2]).toBe(9_999)
})
