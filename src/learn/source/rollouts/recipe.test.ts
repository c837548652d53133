import { describe, expect, it } from 'vitest'
import { reader, readerTasks } from '../../../../test/support/reader.ts'
import { practisedModel } from '../../../../test/support/practised-model.ts'
import { answeredRight, wordEnvironment } from '../../../../test/support/word-environment.ts'
import { defaultBudget } from '../../../agent/index.ts'
import { leaveOneOut } from '../../../credit/index.ts'
import { pairedGate } from '../../../gate/index.ts'
import { policyGradient } from '../../../optimize/weights/index.ts'
import { rubric, verifier } from '../../../reward/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import type { RenderedDemonstration } from './demonstrations.ts'
import type { RolloutOptions } from '../../options.ts'
import { budgetFor, budgetWith, completed, recipe } from './recipe.ts'
import { rollouts } from '../../source.ts'

/** A demonstration whose acts are so many tokens long, with an observation before each. */
const acts = (...lengths: readonly number[]): RenderedDemonstration => {
  const learn = lengths.flatMap((length) => [false, false, ...Array.from({ length }, () => true)])
  const turns = lengths.length
  return { tokens: learn.map((_, t) => t), learn, instruction: 'Do it.', tools: [], turns, refused: 0 }
}

describe('a budget for demonstrations', () => {
  it('holds the longest of them and half as much again', () => {
    // Two acts: 3 turns and one; of 10 tokens: 15 and four.
    const budget = { turns: 4, tokensPerTurn: 19, tokens: 76, malformedCalls: 1, toolErrors: 2 }
    expect(budgetFor([acts(4, 10)])).toEqual(budget)
    expect(budgetFor([acts(4, 10), acts(3)])).toEqual(budget)
  })

  it('takes the most turns of one and the longest turn of another', () => {
    // Three acts: 5 turns and one; of 7 tokens: 11 and four.
    expect(budgetFor([acts(1, 1, 1), acts(7)])).toMatchObject({ turns: 6, tokensPerTurn: 15, tokens: 90 })
  })

  it('counts turns that are not imitated', () => {
    expect(budgetFor([{ ...acts(1, 1), turns: 15 }])).toMatchObject({ turns: 24 })
  })

  it('has room for the calls that tools refuse in one, and for half as many again', () => {
    const errorsFor = (...refused: readonly number[]) =>
      budgetFor(refused.map((one) => ({ ...acts(1), refused: one })))?.toolErrors
    expect([errorsFor(0), errorsFor(1), errorsFor(0, 2), errorsFor(3, 1)]).toEqual([2, 3, 4, 6])
  })

  it('is none without any', () => {
    expect(budgetFor([])).toBeNull()
  })

  it('is found however many there are', () => {
    const many = Array.from({ length: 200_000 }, () => acts(2))
    expect(budgetFor([...many, acts(2, 4)])).toMatchObject({ turns: 4, tokensPerTurn: 10 })
  })
})

describe('a budget with what is given', () => {
  it('keeps that, and finds the rest', () => {
    expect(budgetWith({ toolErrors: 9 }, [acts(4, 10)])).toEqual({
      turns: 4,
      tokensPerTurn: 19,
      tokens: 76,
      malformedCalls: 1,
      toolErrors: 9,
    })
    expect(budgetWith({}, [])).toEqual(defaultBudget)
  })

  it('has tokens for every turn, unless they are given', () => {
    expect(budgetWith({ turns: 10 }, [acts(4, 10)]).tokens).toBe(190)
    expect(budgetWith({ tokensPerTurn: 2 }, [acts(4, 10)]).tokens).toBe(76)
    expect(budgetWith({ turns: 10, tokens: 50 }, [acts(4, 10)]).tokens).toBe(50)
  })
})

describe('what options leave open', () => {
  const optionsWith = async (more: Partial<RolloutOptions> = {}): Promise<RolloutOptions> => ({
    model: practisedModel().service,
    store: await openMemoryStore(),
    source: rollouts(wordEnvironment, readerTasks),
    reward: rubric({ solved: verifier((final) => answeredRight(final)) }),
    ...more,
  })

  it('is the recipe’s: for the agent’s weights, with steps that depend on what succeeds, and not on the time', async () => {
    const options = completed(reader, await optionsWith())
    expect(options.credit.name).toBe('grpo')
    expect(options.gate.name).toBe(pairedGate(recipe.gate).name)
    expect(Object.keys(options.optimize)).toEqual(['model'])
    expect(options.optimize['model']).toMatchObject({ options: recipe.policy })
    expect(options).not.toHaveProperty('prime')
  })

  it('and nothing that is given', async () => {
    const given = {
      credit: leaveOneOut(),
      optimize: { model: policyGradient() },
      gate: pairedGate({ margin: 0, alpha: 0.1 }),
    }
    const prime = { demonstrations: [], supervised: { batchSize: 3 } }
    const options = completed(reader, await optionsWith({ ...given, prime }))
    expect(options).toMatchObject(given)
    expect(options.prime?.supervised).toEqual({ ...recipe.supervised, batchSize: 3 })
  })
})
