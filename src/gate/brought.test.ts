import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PairedOutcome, ParameterName, TaskId } from '../core/index.ts'
import { broughtBy, broughtInWords } from './brought.ts'

const memory = { parameter: ParameterName.parse('cases'), kind: 'memory' }

/** Pairs of scores without and with what the Parameter learned, so many of each. */
const outcomesOf = (
  ...groups: readonly (readonly [number, number | null, number | null])[]
): readonly PairedOutcome[] =>
  groups
    .flatMap(([count, without, whole]) => Array.from({ length: count }, () => ({ without, whole })))
    .map(({ without, whole }, i) => ({ task: TaskId.parse(`t${i}`), baseline: without, candidate: whole }))

describe('what a Parameter brought', () => {
  it('is how much the candidate earns more than without it, with an interval', () => {
    const brought = broughtBy(memory, outcomesOf([30, 0, 1], [10, 1, 0], [60, 1, 1]), [0, 1])
    expect(brought).toMatchObject({ parameter: 'cases', kind: 'memory', n: 100, verdict: 'helps' })
    expect(brought.difference).toBeCloseTo(0.2, 12)
    const [low, high] = brought.ci
    expect(low).toBeGreaterThan(0)
    expect(low).toBeLessThan(0.2)
    expect(high).toBeGreaterThan(0.2)
  })

  it.each([
    ['hurts', [outcomesOf([30, 1, 0], [70, 1, 1])]],
    ['no-loss', [outcomesOf([200, 1, 1]), outcomesOf([100, 1, 1], [100, 0, 0])]],
    // Of 20 tasks that are all alike nothing is shown: one in seven could be lost.
    ['unclear', [outcomesOf([20, 1, 1]), outcomesOf([12, 0, 1], [10, 1, 0], [60, 1, 1])]],
  ] as const)('is said to be: %s', (verdict, all) => {
    for (const outcomes of all) expect(broughtBy(memory, outcomes, [0, 1]).verdict).toBe(verdict)
  })

  it('takes what is missing for the worst of both', () => {
    const { difference, ci, n, verdict } = broughtBy(
      memory,
      outcomesOf([100, 0, 1], [60, null, 1], [60, 1, null]),
      [0, 1],
    )
    expect({ difference, n, verdict }).toEqual({ difference: 1, n: 100, verdict: 'helps' })
    expect(ci[0]).toBeLessThan(0.3)
    expect(broughtBy(memory, outcomesOf([5, null, 1]), [0, 1])).toMatchObject({
      difference: null,
      n: 0,
      verdict: 'unclear',
    })
  })

  it('turns round when the arms do, and scales with the range', () => {
    const score = fc.integer({ min: 0, max: 4 }).map((n) => n / 4)
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 2, maxLength: 30 }), (pairs) => {
        const of = (scale: number, turned: boolean) =>
          broughtBy(
            memory,
            outcomesOf(...pairs.map(([a, b]) => [1, scale * (turned ? b : a), scale * (turned ? a : b)] as const)),
            [0, scale],
          )
        const { difference, ci } = of(1, false)
        const back = of(1, true)
        const wider = of(3, false)
        expect(back.difference).toBeCloseTo(-(difference ?? 0), 9)
        expect(back.ci[0]).toBeCloseTo(-ci[1], 6)
        expect(wider.ci[0]).toBeCloseTo(3 * ci[0], 6)
        expect(wider.verdict).toBe(of(1, false).verdict)
      }),
    )
  })

  it('is told in one sentence', () => {
    const brought = broughtBy(memory, outcomesOf([200, 1, 1]), [0, 1])
    expect(broughtInWords(brought)).toMatch(
      /^"cases" brought \+0\.000 \[−0\.\d{3}, \+0\.\d{3}\] on 200 tasks: nothing is lost without it, so retire it\.$/,
    )
  })
})
