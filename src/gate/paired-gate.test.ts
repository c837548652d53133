import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PairedOutcome, rng, TaskId } from '../core/index.ts'
import type { GateInput } from './decide.ts'
import { holdoutHash } from './ledger.ts'
import { pairedGate } from './paired-gate.ts'

const id = (i: number | string) => TaskId.parse(`task-${i}`)

function useOf(outcomes: readonly PairedOutcome[], alpha = 0.05): GateInput['use'] {
  return { holdout: holdoutHash(outcomes.map(({ task }) => task)), use: 1, alpha, run: null, at: 0 }
}

function input(outcomes: readonly PairedOutcome[], more: Partial<GateInput> = {}): GateInput {
  return { outcomes, use: useOf(outcomes), rewardRange: [0, 1], ...more }
}

/** Pass/fail outcomes: `wins` only the candidate passes, `losses` only the baseline, the rest both. */
function passFail(wins: number, losses: number, tasks: number): PairedOutcome[] {
  return Array.from({ length: tasks }, (_, i) => ({
    task: id(i),
    baseline: i < wins ? 0 : 1,
    candidate: i >= wins && i < wins + losses ? 0 : 1,
  }))
}

const withMissing = (outcomes: readonly PairedOutcome[], arm: 'baseline' | 'candidate', from: number, count: number) =>
  outcomes.map((outcome, i) => (i >= from && i < from + count ? { ...outcome, [arm]: null } : outcome))

const withGuard = (
  outcomes: readonly PairedOutcome[],
  name: string,
  baseline: number,
  candidate: (i: number) => number,
) =>
  outcomes.map((outcome, i) => ({
    ...outcome,
    guards: { baseline: { [name]: baseline }, candidate: { [name]: candidate(i) } },
  }))

const plain = pairedGate({ margin: 0, alpha: 0.05 })
const config = { margin: 0.02, alpha: 0.05 }

describe('the truth table', () => {
  it('promotes what is shown to be better by more than the margin: 5 wins of 5 are 1/32, 4 of 4 are 1/16', () => {
    expect(plain.decide(input(passFail(5, 0, 5))).decision).toBe('promote')
    expect(plain.decide(input(passFail(4, 0, 4))).decision).toBe('need_more_evidence')
  })

  it('asks for more above a margin: 15 to 5 of 200 is above 0, and not yet above 0.02', () => {
    const outcomes = passFail(15, 5, 200)
    expect(plain.decide(input(outcomes)).decision).toBe('promote')
    expect(pairedGate(config).decide(input(outcomes)).decision).toBe('need_more_evidence')
    expect(pairedGate(config).decide(input(passFail(30, 5, 200))).decision).toBe('promote')
  })

  it('rejects what is shown to be worse than the baseline, and only that', () => {
    expect(pairedGate(config).decide(input(passFail(5, 20, 200))).decision).toBe('reject')
    expect(pairedGate(config).decide(input(passFail(8, 12, 200))).decision).toBe('need_more_evidence')
  })

  it('under a negative margin rejects only below the margin, so that it never both promotes and rejects', () => {
    const lenient = pairedGate({ margin: -0.1, alpha: 0.05 })
    expect(lenient.decide(input(passFail(0, 8, 400))).decision).toBe('promote')
    expect(lenient.decide(input(passFail(0, 80, 400))).decision).toBe('reject')
  })

  it('holds what is shown to be smaller than the effect worth finding', () => {
    const gate = pairedGate({ ...config, power: { effect: 0.1 } })
    expect(gate.decide(input(passFail(10, 8, 400))).decision).toBe('hold')
    expect(gate.decide(input(passFail(100, 80, 400))).decision).toBe('need_more_evidence')
    // Without an effect, only what is shown to be below the margin itself is held.
    expect(pairedGate({ margin: 0.1, alpha: 0.05 }).decide(input(passFail(10, 8, 400))).decision).toBe('hold')
  })

  it('looks at coverage first: without enough scores even a clear gain waits', () => {
    const outcomes = withMissing(passFail(60, 0, 200), 'candidate', 100, 11)
    const both = withMissing(outcomes, 'baseline', 100, 11)
    expect(plain.decide(input(both)).decision).toBe('need_more_evidence')
    expect(plain.decide(input(both)).reasons[0]).toContain('94.5 %')
    const enough = withMissing(withMissing(passFail(60, 0, 200), 'candidate', 100, 10), 'baseline', 100, 10)
    expect(plain.decide(input(enough)).decision).toBe('promote')
  })

  it('does not compare arms that miss scores unequally', () => {
    const outcomes = passFail(60, 0, 200)
    const { decision, reasons } = plain.decide(input(withMissing(outcomes, 'candidate', 100, 8)))
    expect(decision).toBe('need_more_evidence')
    expect(reasons[0]).toContain('8 tasks')
    expect(plain.decide(input(withMissing(outcomes, 'candidate', 100, 3))).decision).toBe('promote')
  })

  it('counts a missing score against what is to be shown: 6 wins, of which one baseline is missing, are 6 wins less one', () => {
    const outcomes = passFail(5, 0, 100)
    expect(plain.decide(input(outcomes)).decision).toBe('promote')
    expect(plain.decide(input(withMissing(outcomes, 'baseline', 0, 1))).decision).toBe('need_more_evidence')
    const worse = passFail(0, 5, 100)
    expect(plain.decide(input(worse)).decision).toBe('reject')
    expect(plain.decide(input(withMissing(worse, 'candidate', 0, 1))).decision).toBe('need_more_evidence')
  })

  describe('guards', () => {
    const gate = pairedGate({ ...config, guards: { brokenCalls: { allowed: 0.02, range: [0, 3] } } })
    const better = passFail(60, 0, 200)

    it('rejects a better score that is paid with a worse guard', () => {
      const outcomes = withGuard(better, 'brokenCalls', 0, (i) => Number(i % 5 === 0))
      const { decision, reasons } = gate.decide(input(outcomes))
      expect(decision).toBe('reject')
      expect(reasons[0]).toContain('brokenCalls')
      expect(reasons[1]).toContain('better by more than the margin')
    })

    it('promotes when the guard got worse within noise, or by what is allowed, or better', () => {
      for (const candidate of [(i: number) => Number(i < 6), () => 0.02, () => 0]) {
        expect(gate.decide(input(withGuard(better, 'brokenCalls', 0, candidate))).decision).toBe('promote')
      }
    })

    it('clips one wild attempt to the range', () => {
      const outcomes = withGuard(better, 'brokenCalls', 0, (i) => (i === 0 ? 1e9 : 0))
      expect(gate.decide(input(outcomes)).decision).toBe('promote')
    })

    it('waits when the guard was not measured, and does not take that for harmless', () => {
      expect(gate.decide(input(better)).decision).toBe('need_more_evidence')
      // Being worse is shown without the guard.
      expect(gate.decide(input(passFail(0, 60, 200))).decision).toBe('reject')
    })
  })

  describe('suites', () => {
    const gate = pairedGate({ ...config, suites: { arithmetic: { allowed: 0.05 } } })
    const better = passFail(60, 0, 200)

    it('rejects a gain that forgets an old suite', () => {
      const { decision, reasons } = gate.decide(input(better, { suites: { arithmetic: passFail(0, 30, 100) } }))
      expect(decision).toBe('reject')
      expect(reasons[0]).toContain('arithmetic')
    })

    it('promotes when the suite is kept, also when some of it is lost within what is allowed', () => {
      expect(gate.decide(input(better, { suites: { arithmetic: passFail(2, 2, 100) } })).decision).toBe('promote')
      expect(gate.decide(input(better, { suites: { arithmetic: passFail(0, 6, 100) } })).decision).toBe('promote')
    })

    it('refuses to decide without the suite, or with one that it does not know', () => {
      expect(() => gate.decide(input(better))).toThrow(/arithmetic/)
      expect(() => plain.decide(input(better, { suites: { arithmetic: better } }))).toThrow(/arithmetic/)
    })
  })
})

describe('the evidence', () => {
  it('has the interval that the decision rests on, and how many tasks would be enough', () => {
    const gate = pairedGate({ margin: 0, alpha: 0.05, power: { effect: 0.1 } })
    const { evidence } = gate.decide(input(passFail(30, 20, 200)))
    expect(evidence).toMatchObject({
      tasks: 200,
      coverage: 1,
      difference: 0.05,
      missing: { baseline: 0, candidate: 0 },
    })
    const [lower, upper] = evidence['interval'] as [number, number]
    expect(lower).toBeLessThan(0)
    expect(upper).toBeGreaterThan(0.1)
    // (1.875 + 0.842)² · 0.2475 / 0.1² by hand, z of 0.0304 and of 0.8.
    expect(evidence['tasksNeeded']).toBe(183)
  })

  it('decides more strictly with the smaller alpha of a later use', () => {
    const outcomes = passFail(5, 0, 100)
    const later = input(outcomes, { use: useOf(outcomes, 0.0076) })
    expect(plain.decide(later).decision).toBe('need_more_evidence')
  })
})

describe('properties', () => {
  const score = fc.option(
    fc.integer({ min: 0, max: 4 }).map((k) => k / 4),
    { freq: 20 },
  )
  const outcomesOf = (minLength: number) =>
    fc.array(fc.tuple(score, score, fc.nat(3)), { minLength, maxLength: 60 }).map((rows) =>
      withGuard(
        rows.map(([baseline, candidate], i) => ({ task: id(i), baseline, candidate })),
        'tokens',
        1,
        (i) => rows[i]?.[2] ?? 0,
      ),
    )
  /** Outcomes where the candidate is mostly better, so that promotions are common. */
  const promising = fc
    .array(fc.tuple(fc.constantFrom(0, 0, 0.25, null), fc.constantFrom(1, 1, 1, 0.75, 0, null)), {
      minLength: 8,
      maxLength: 60,
    })
    .map((rows) => rows.map(([baseline, candidate], i): PairedOutcome => ({ task: id(i), baseline, candidate })))
  const gate = pairedGate({ ...config, minCoverage: 0.7, guards: { tokens: { allowed: 1, range: [0, 4] } } })
  const unguarded = pairedGate({ ...config, minCoverage: 0.5 })

  it('does not depend on the order of outcomes', () => {
    fc.assert(
      fc.property(outcomesOf(1), fc.integer(), (outcomes, seed) => {
        const shuffled = rng(seed).shuffle(outcomes)
        expect(gate.decide(input(shuffled)).decision).toBe(gate.decide(input(outcomes)).decision)
      }),
    )
  })

  it('keeps a promotion when the candidate does better on a task', () => {
    fc.assert(
      fc.property(promising, fc.nat(), (outcomes, index) => {
        fc.pre(unguarded.decide(input(outcomes)).decision === 'promote')
        const better = outcomes.map((outcome, i) =>
          i === index % outcomes.length ? { ...outcome, candidate: 1 } : outcome,
        )
        expect(unguarded.decide(input(better)).decision).toBe('promote')
      }),
    )
  })

  it('never promotes because a score went missing', () => {
    const anyArm = fc.constantFrom('baseline' as const, 'candidate' as const)
    fc.assert(
      fc.property(fc.oneof(promising, outcomesOf(5)), fc.nat(), anyArm, (outcomes, index, arm) => {
        fc.pre(unguarded.decide(input(outcomes)).decision !== 'promote')
        const { missing: before } = unguarded.decide(input(outcomes)).evidence as { missing: Record<string, number> }
        const gone = withMissing(outcomes, arm, index % outcomes.length, 1)
        const after = unguarded.decide(input(gone))
        // Losing the baseline's score too can make the arms comparable again; that alone may lift a veto.
        fc.pre(arm === 'candidate' || (before['candidate'] ?? 0) <= (before['baseline'] ?? 0))
        expect(after.decision).not.toBe('promote')
      }),
    )
  })

  it('never both promotes and rejects: swapping the arms of a promotion does not promote', () => {
    fc.assert(
      fc.property(promising, (outcomes) => {
        fc.pre(unguarded.decide(input(outcomes)).decision === 'promote')
        const swapped = outcomes.map(({ task, baseline, candidate }) => ({
          task,
          baseline: candidate,
          candidate: baseline,
        }))
        expect(plain.decide(input(swapped)).decision).not.toBe('promote')
      }),
    )
  })
})

describe('what it refuses', () => {
  const good = passFail(5, 0, 10)
  it.each([
    ['no outcome', 'gate/no-outcomes', () => input([])],
    ['a task twice', 'gate/duplicate-task', () => input([...good, ...good.slice(0, 1)], { use: useOf(good) })],
    ['a score above the range', 'gate/score-out-of-range', () => input(good.map((o) => ({ ...o, candidate: 1.5 })))],
    [
      'a score that is not a number',
      'gate/score-out-of-range',
      () => input(good.map((o) => ({ ...o, baseline: Number.NaN }))),
    ],
    ['a task left out', 'gate/other-holdout', () => input(good.slice(1), { use: useOf(good) })],
    ['more alpha than it has', 'gate/use-spends-too-much', () => input(good, { use: useOf(good, 0.06) })],
    ['an empty range', 'gate/reward-range', () => input(good, { rewardRange: [1, 1] })],
  ])('%s', (_, code, make) => {
    expect(() => plain.decide(make())).toThrow(expect.objectContaining({ code }))
  })

  it.each([
    [{ margin: 0, alpha: 0.05, marign: 1 }, /marign/],
    [{ margin: 0, alpha: 5 }, /alpha/],
    [{ margin: 0.1, alpha: 0.05, power: { effect: 0.05 } }, /effect/],
    [{ margin: 0, alpha: 0.05, guards: { calls: { allowed: 0, range: [1, 0] } } }, /range/],
  ])('the configuration %j', (wrong, what) => {
    expect(() => pairedGate(wrong as Parameters<typeof pairedGate>[0])).toThrow(what)
  })
})
