import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HoldoutUse, type PairedOutcome, ParameterName, rng, TaskId } from '../core/index.ts'
import { holdoutHash } from './ledger.ts'
import { pairedGate } from './paired-gate.ts'
import { criticalWins, promotionProbability } from './power.ts'
import { replay } from './replay.ts'
import { retiredIn, tasksToRetire } from './retiring.ts'

const notes = ParameterName.parse('notes')
const base = pairedGate({ margin: 0.02, alpha: 0.05, power: { effect: 0.1 } })
const retiring = (of = 1, loss = 0.05) => base.retiring({ parameter: notes, loss, of })

/** Pass or fail of tasks: so many that only the candidate passes, only the baseline, and all others both. */
const outcomesOf = (wins: number, losses: number, tasks: number): readonly PairedOutcome[] =>
  Array.from({ length: tasks }, (_, i) => ({
    task: TaskId.parse(`t${i}`),
    baseline: i < wins ? 0 : 1,
    candidate: i >= wins && i < wins + losses ? 0 : 1,
  }))
const useOf = (outcomes: readonly PairedOutcome[], use = 1, alpha = 0.05): HoldoutUse => ({
  holdout: holdoutHash(outcomes.map(({ task }) => task)),
  use,
  alpha,
  run: null,
  at: 0,
})
const decide = (outcomes: readonly PairedOutcome[], gate = retiring(), use = useOf(outcomes)) =>
  gate.decide({ outcomes, use, rewardRange: [0, 1] })

describe('a gate that judges a retirement', () => {
  it('promotes where less is lost than the margin, rejects where more is, and else asks for more', () => {
    expect(decide(outcomesOf(0, 0, 200)).reasons).toEqual([
      expect.stringMatching(/: without what "notes" learned less than 0\.05 is lost, so it can be retired\.$/),
    ])
    expect(decide(outcomesOf(2, 4, 400)).decision).toBe('promote')
    expect(decide(outcomesOf(5, 60, 200))).toMatchObject({
      decision: 'reject',
      reasons: [expect.stringContaining('without what "notes" learned more than 0.05 is lost, so it stays.')],
    })
    // Of 20 tasks that are all alike nothing is shown; nor where a twentieth is lost.
    for (const outcomes of [outcomesOf(0, 0, 20), outcomesOf(0, 10, 200)]) {
      expect(decide(outcomes)).toMatchObject({
        decision: 'need_more_evidence',
        reasons: [expect.stringContaining('does not yet tell whether 0.05 is lost without what "notes" learned')],
      })
    }
  })

  it('promotes wrongly at most as often as its level says, exactly, whatever else differs', () => {
    for (const [tasks, alpha] of [
      [60, 0.05],
      [100, 0.0304],
      [200, 0.005],
    ] as const) {
      const critical = criticalWins(tasks, -0.05, alpha)
      let most = 0
      // What is lost is just the margin; so many tasks differ beside.
      for (let beside = 0; beside <= 0.47; beside += 0.01) {
        const size = promotionProbability(critical, { tasks, wins: beside, losses: beside + 0.05 })
        expect(size).toBeLessThanOrEqual(alpha)
        most = Math.max(most, size)
        // More is lost: it is promoted less often.
        expect(promotionProbability(critical, { tasks, wins: beside, losses: beside + 0.06 })).toBeLessThan(size)
      }
      expect(most).toBeGreaterThan(alpha / 10)
    }
  })

  it('is a test of the same decision as the exact computation', () => {
    const critical = criticalWins(100, -0.05, 0.05)
    for (const [losses, wins] of critical.slice(0, 20).entries()) {
      expect(decide(outcomesOf(wins, losses, 100)).decision).toBe('promote')
      if (wins > 0) expect(decide(outcomesOf(wins - 1, losses, 100)).decision).not.toBe('promote')
    }
  })

  it.each<[string, (next: () => number) => readonly [number, number]]>([
    ['graded rewards', (next) => [0.2 + 0.8 * next(), Math.max(0, 0.8 * next() + 0.2 - 0.05 / 0.95)]],
    ['a little less on each task', (next) => [0.5 + 0.1 * next(), 0.45 + 0.1 * next()]],
    ['a rare disaster', (next) => (next() < 0.06 ? [1, 0] : [0.5, 0.5 + 0.01 / 0.94])],
  ])('promotes seldom what loses the margin: %s', (name, draw) => {
    const stream = rng('retiring', name)
    let promoted = 0
    for (let i = 0; i < 200; i++) {
      const outcomes = Array.from({ length: 100 }, (_, task) => {
        const [baseline, candidate] = draw(() => stream.next())
        return { task: TaskId.parse(`t${task}`), baseline, candidate }
      })
      if (decide(outcomes).decision === 'promote') promoted++
    }
    // 200 draws at 0.05 exceed 21 with probability below 0.001.
    expect(promoted).toBeLessThanOrEqual(21)
  })

  it('shares the alpha of tasks that were used before among all that could be retired, as they may have told which', () => {
    const outcomes = outcomesOf(0, 0, 80)
    const alphaOf = (gate: ReturnType<typeof retiring>, use: HoldoutUse) =>
      decide(outcomes, gate, use).evidence['alpha']
    expect(alphaOf(retiring(4), useOf(outcomes))).toBe(0.05)
    expect(alphaOf(retiring(4), useOf(outcomes, 2, 0.04))).toBe(0.01)
    expect(alphaOf(base, useOf(outcomes, 2, 0.04))).toBe(0.04)
    expect(decide(outcomes, retiring(4), useOf(outcomes, 2)).decision).toBe('need_more_evidence')
    expect(decide(outcomes, retiring(4), useOf(outcomes)).decision).toBe('promote')
  })

  it('so the one of several that looked best on them is retired wrongly no more often', () => {
    const stream = rng('retiring', 'picked')
    const picked = { shared: 0, whole: 0 }
    for (let i = 0; i < 200; i++) {
      const all = Array.from({ length: 6 }, () => {
        let losses = 0
        // Each loses just the margin.
        for (let task = 0; task < 100; task++) if (stream.next() < 0.05) losses++
        return losses
      })
      const outcomes = outcomesOf(0, Math.min(...all), 100)
      if (decide(outcomes, retiring(6), useOf(outcomes, 2)).decision === 'promote') picked.shared++
      if (decide(outcomes, retiring(1), useOf(outcomes, 2)).decision === 'promote') picked.whole++
    }
    expect(picked.shared).toBeLessThanOrEqual(21)
    expect(picked.whole).toBeGreaterThan(21)
  })

  it('keeps what else the gate asks for: guards, coverage and alpha', () => {
    const guarded = pairedGate({ margin: 0, alpha: 0.05, guards: { cost: { allowed: 0.1, range: [0, 1] } } })
    const dearer = outcomesOf(0, 0, 200).map((one) => ({
      ...one,
      guards: { baseline: { cost: 0 }, candidate: { cost: 1 } },
    }))
    expect(decide(dearer, guarded.retiring({ parameter: notes, loss: 0.05, of: 1 })).decision).toBe('reject')
    const missing = outcomesOf(0, 0, 200).map((one, i) => (i < 20 ? { ...one, candidate: null } : one))
    expect(decide(missing).decision).toBe('need_more_evidence')
    expect(retiring().alpha).toBe(base.alpha)
    expect(retiring().lifetime).toEqual(base.lifetime)
  })

  it('leaves the gate that it is made of as it is', () => {
    retiring()
    expect(
      base.decide({ outcomes: outcomesOf(0, 0, 200), use: useOf(outcomesOf(0, 0, 200)), rewardRange: [0, 1] }).decision,
    ).not.toBe('promote')
  })

  it('promotes whatever a gain is shown of', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }), (wins, losses) => {
        const outcomes = outcomesOf(wins, losses, 150)
        const gains = base.decide({ outcomes, use: useOf(outcomes), rewardRange: [0, 1] }).decision === 'promote'
        if (gains) expect(decide(outcomes).decision).toBe('promote')
      }),
      { numRuns: 50 },
    )
  })

  it('makes a receipt that says what is retired, and replays', () => {
    const outcomes = outcomesOf(0, 0, 200)
    const about = {
      agent: 'desk',
      baseline: {},
      candidate: {},
      outcomes,
      use: useOf(outcomes),
      rewardRange: [0, 1] as const,
    }
    const receipt = retiring(3).makeReceipt(about)
    expect(replay(receipt)).toBe('promote')
    expect(retiredIn(receipt)).toBe('notes')
    expect(retiredIn(base.makeReceipt(about))).toBeNull()
  })

  it('has no loss that is none', () => {
    for (const loss of [0, -0.1, Number.NaN]) {
      expect(() => retiring(1, loss)).toThrow(expect.objectContaining({ code: 'gate/config' }))
    }
    expect(() => retiring(0)).toThrow(expect.objectContaining({ code: 'gate/config' }))
  })
})

it('so many tasks that are all alike show that less than a share is lost, and not one less', () => {
  for (const [share, alpha] of [
    [0.05, 0.0304],
    [0.05, 0.001],
    [0.2, 0.01],
  ] as const) {
    const enough = tasksToRetire(share, alpha)
    const shown = (tasks: number) => {
      const outcomes = outcomesOf(0, 0, tasks)
      return decide(outcomes, retiring(1, share), useOf(outcomes, 1, alpha)).decision === 'promote'
    }
    expect([shown(enough - 1), shown(enough)]).toEqual([false, true])
  }
})
