import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PairedOutcome, rng, TaskId } from '../core/index.ts'
import type { GateInput } from './decide.ts'
import { holdoutHash } from './ledger.ts'
import { pairedGate } from './paired-gate.ts'

type Scores = readonly (number | null)[]

const id = (i: number) => TaskId.parse(`task-${i}`)

/** Scores of pass/fail tasks, of which so many from a place on are passed. */
const passes = (count: number, tasks: number, from = 0) =>
  Array.from({ length: tasks }, (_, i) => Number(i >= from && i < from + count))

const pair = (baseline: Scores, candidate: Scores): PairedOutcome[] =>
  candidate.map((score, i) => ({ task: id(i), baseline: baseline[i] ?? null, candidate: score }))

/** A candidate against a baseline that never passes, and against rivals. */
function input(candidate: Scores, rivals: Readonly<Record<string, Scores>>, baseline = candidate.map(() => 0)) {
  const outcomes = pair(baseline, candidate)
  const against = Object.entries(rivals).map(([name, scores]) => [name, pair(scores, candidate)] as const)
  return {
    outcomes,
    rivals: Object.fromEntries(against),
    use: { holdout: holdoutHash(outcomes.map(({ task }) => task)), use: 1, alpha: 0.05, run: null, at: 0 },
    rewardRange: [0, 1],
  } satisfies GateInput
}

const gate = pairedGate({ margin: 0.02, alpha: 0.05 })

describe('the truth table with rivals', () => {
  it('promotes what beats what serves and every rival', () => {
    const { decision, evidence } = gate.decide(
      input(passes(60, 100), { primed: passes(40, 100), constant: passes(20, 100) }),
    )
    expect(decision).toBe('promote')
    expect(evidence['rivals']).toMatchObject({
      primed: { standing: 'beaten', means: { rival: 0.4, candidate: 0.6 }, difference: 0.2 },
      constant: { standing: 'beaten', difference: 0.4 },
    })
  })

  it('asks of a rival only that it is beaten, by whatever: 5 wins of 5 are enough, 4 of 4 are not', () => {
    expect(gate.decide(input(passes(60, 400), { primed: passes(55, 400) })).decision).toBe('promote')
    const { decision, reasons } = gate.decide(input(passes(60, 400), { primed: passes(56, 400) }))
    expect(decision).toBe('need_more_evidence')
    expect(reasons).toEqual([
      'The candidate is not shown to beat the primed policy: 0.15 against 0.14 of 400 tasks.',
      expect.stringContaining('better by more than the margin'),
    ])
  })

  it('holds a candidate that did as a rival did on every task, and says so', () => {
    const { decision, reasons } = gate.decide(input(passes(104, 400), { primed: passes(104, 400) }))
    expect(decision).toBe('hold')
    expect(reasons[0]).toBe('The candidate does not beat the primed policy: 0.26 against 0.26 of 400 tasks.')
  })

  it('does not take equal outcomes for certain where the tasks are too few to show anything', () => {
    expect(gate.decide(input(passes(4, 4), { primed: passes(4, 4) })).decision).toBe('need_more_evidence')
    expect(gate.decide(input(passes(5, 5), { primed: passes(5, 5) })).decision).toBe('hold')
  })

  it('holds a candidate that is shown to be worse than a rival, also where another is open', () => {
    const rivals = { expert: passes(90, 100), primed: passes(59, 100) }
    const { decision, reasons } = gate.decide(input(passes(60, 100), rivals))
    expect(decision).toBe('hold')
    expect(reasons[0]).toContain('does not beat the expert policy')
    expect(reasons[1]).toContain('is not shown to beat the primed policy')
  })

  it('with an effect worth finding, holds what is shown to be better by less', () => {
    const nearly = input(passes(200, 1000), { primed: passes(200, 1000, 4) })
    expect(gate.decide(nearly).decision).toBe('need_more_evidence')
    const worth = pairedGate({ margin: 0.02, alpha: 0.05, power: { effect: 0.05 } })
    expect(worth.decide(nearly).decision).toBe('hold')
  })

  it('names the rival also where nothing is shown over what serves, and rejects what is worse all the same', () => {
    const some = input(passes(52, 100), { primed: passes(51, 100) }, passes(50, 100))
    expect(gate.decide(some).reasons).toEqual([
      expect.stringContaining('primed'),
      expect.stringContaining('does not yet tell it from the margin'),
    ])
    const worse = input(passes(20, 100), { primed: passes(40, 100) }, passes(60, 100))
    expect(gate.decide(worse).decision).toBe('reject')
  })

  it('counts a missing score against the candidate, whosever it is', () => {
    const [candidate, rival] = [passes(60, 400), passes(55, 400)]
    expect(gate.decide(input(candidate, { primed: [...rival.slice(1), null] })).decision).toBe('need_more_evidence')
    // A rival of which nothing is known is not beaten, and not shown to be better.
    const { decision, reasons } = gate.decide(input(candidate, { primed: rival.map(() => null) }))
    expect(decision).toBe('need_more_evidence')
    expect(reasons[0]).toContain('no task has a score of both')
  })

  it.each<[string, string, (made: ReturnType<typeof input>) => GateInput]>([
    [
      'a rival on fewer tasks',
      'gate/other-rival-outcomes',
      (made) => ({ ...made, rivals: { primed: made.rivals['primed']!.slice(1) } }),
    ],
    [
      'a rival paired with another candidate',
      'gate/other-rival-outcomes',
      (made) => ({ ...made, rivals: { primed: made.rivals['primed']!.map((o) => ({ ...o, candidate: 1 })) } }),
    ],
    [
      'a rival with a task twice',
      'gate/duplicate-task',
      (made) => ({ ...made, rivals: { primed: [...made.rivals['primed']!, ...made.rivals['primed']!] } }),
    ],
    [
      'a score of a rival out of range',
      'gate/score-out-of-range',
      (made) => ({ ...made, rivals: { primed: made.rivals['primed']!.map((o) => ({ ...o, baseline: 2 })) } }),
    ],
  ])('refuses %s', (_, code, change) => {
    const made = input(passes(6, 10), { primed: passes(1, 10) })
    expect(() => gate.decide(change(made))).toThrow(expect.objectContaining({ code }))
  })
})

describe('properties', () => {
  const score = fc.constantFrom(0, 0, 0.5, 1, 1, null)
  /** Scores of four arms on the same tasks; the candidate is mostly good, so that promotions are common. */
  const arms = fc
    .array(fc.tuple(fc.constantFrom(0, 0, 0.5), fc.constantFrom(1, 1, 0.5, 0), score, fc.constantFrom(0, 0, 0, 1)), {
      minLength: 6,
      maxLength: 60,
    })
    .map((rows) => {
      const scoresOf = (arm: 0 | 1 | 2 | 3): Scores => rows.map((row) => row[arm])
      return [scoresOf(0), scoresOf(1), scoresOf(2), scoresOf(3)] as const
    })
  const given = ([baseline, candidate, ...rivals]: readonly Scores[]) =>
    input(candidate ?? [], Object.fromEntries(rivals.map((scores, i) => [`rival-${i}`, scores])), baseline as number[])

  it('hang on the order of neither outcomes nor rivals', () => {
    fc.assert(
      fc.property(arms, fc.integer(), (scores, seed) => {
        const made = given(scores)
        const shuffled = Object.entries(made.rivals)
          .toReversed()
          .map(([name, outcomes]) => [name, rng(seed).shuffle(outcomes)] as const)
        expect(gate.decide({ ...made, rivals: Object.fromEntries(shuffled) })).toEqual(gate.decide(made))
      }),
    )
  })

  it('a rival that is added never makes a promotion', () => {
    fc.assert(
      fc.property(arms, ([baseline, candidate, one, two]) => {
        const decisions = [[], [one], [one, two]].map(
          (rivals) => gate.decide(given([baseline, candidate, ...rivals])).decision,
        )
        expect(decisions).not.toSatisfy(
          ([none, first, both]: string[]) =>
            (none !== 'promote' && first === 'promote') || (first !== 'promote' && both === 'promote'),
        )
      }),
    )
  })

  it('no rivals are what there was before: the whole verdict, and its evidence', () => {
    fc.assert(
      fc.property(arms, ([baseline, candidate]) => {
        const { rivals, ...without } = given([baseline, candidate])
        expect(rivals).toEqual({})
        expect(gate.decide({ ...without, rivals })).toEqual(gate.decide(without))
        expect(gate.decide(without).evidence).not.toHaveProperty('rivals')
      }),
    )
  })

  it('a promotion stays one when a rival does worse', () => {
    fc.assert(
      fc.property(arms, fc.nat(), ([baseline, candidate, , rival], index) => {
        fc.pre(gate.decide(given([baseline, candidate, rival])).decision === 'promote')
        const worse = rival.with(index % rival.length, 0)
        expect(gate.decide(given([baseline, candidate, worse])).decision).toBe('promote')
      }),
    )
  })
})
