import { describe, expect, it } from 'vitest'
import { type HoldoutTask, type HoldoutUse, rng, TaskId } from '../core/index.ts'
import { claimHoldout, holdoutHash } from './ledger.ts'
import { pairedGate } from './paired-gate.ts'
import { criticalWins, promotionProbability } from './power.ts'

// The small version of scripts/gate-evidence.mjs, seeded: the bounds are exceeded by chance once in a thousand.
const N = 100
const GATES = 200
/** 200 draws at 0.05 exceed this with probability below 0.001. */
const BOUND = 21
const ids = Array.from({ length: N }, (_, i) => TaskId.parse(`task-${i}`))
const whole: HoldoutUse = { holdout: holdoutHash(ids), use: 1, alpha: 0.05, run: null, at: 0 }

type Draw = (next: () => number) => readonly [baseline: number, candidate: number]

function promotions(draw: Draw, margin: number, name: string): number {
  const stream = rng('error-rates', name)
  const gate = pairedGate({ margin, alpha: 0.05 })
  let promoted = 0
  for (let i = 0; i < GATES; i++) {
    const outcomes = ids.map((task) => {
      const [baseline, candidate] = draw(() => stream.next())
      return { task, baseline, candidate }
    })
    if (gate.decide({ outcomes, use: whole, rewardRange: [0, 1] }).decision === 'promote') promoted++
  }
  return promoted
}

const passFail =
  (rate: number, gain: number): Draw =>
  (next) => [Number(next() < rate), Number(next() < rate + gain)]

describe('false promotions stay within the binomial bound of alpha', () => {
  it.each<[string, number, Draw]>([
    ['nothing gained, success 0.3', 0, passFail(0.3, 0)],
    ['nothing gained, success 0.9', 0, passFail(0.9, 0)],
    ['exactly the margin gained', 0.05, passFail(0.5, 0.05)],
    ['graded rewards', 0, (next) => [next() * next(), next() * next()]],
    // Student's t promotes this one in 25 % of gates: most samples of 100 hold no disaster, or one.
    ['small gains paid by a rare disaster', 0, (next) => (next() < 0.01 ? [1, 0] : [0.5, 0.5 + 0.01 / 0.99])],
  ])('%s', (name, margin, draw) => {
    expect(promotions(draw, margin, name)).toBeLessThanOrEqual(BOUND)
  })

  it('over ten uses of one holdout with the ledger, and not without it', async () => {
    const gate = pairedGate({ margin: 0, alpha: 0.05 })
    const tasks = ids.map((id): HoldoutTask => ({ id, instruction: 'do it', data: null, split: 'holdout' }))
    const stream = rng('error-rates', 'repeated')
    let [kept, naive] = [0, 0]
    for (let i = 0; i < GATES; i++) {
      const uses: HoldoutUse[] = []
      const ledger = { append: async (use: HoldoutUse) => void uses.push(use), uses: async () => uses }
      let [promoted, promotedNaively] = [false, false]
      for (let candidate = 0; candidate < 10; candidate++) {
        const use = await claimHoldout(ledger, { tasks, alpha: 0.05, run: null, at: 0 })
        const outcomes = ids.map((task) => {
          const [baseline, candidate] = passFail(0.5, 0)(() => stream.next())
          return { task, baseline, candidate }
        })
        promoted ||= gate.decide({ outcomes, use, rewardRange: [0, 1] }).decision === 'promote'
        promotedNaively ||= gate.decide({ outcomes, use: whole, rewardRange: [0, 1] }).decision === 'promote'
      }
      if (promoted) kept++
      if (promotedNaively) naive++
    }
    expect(kept).toBeLessThanOrEqual(BOUND)
    expect(naive).toBeGreaterThan(BOUND)
  })
})

describe('rivals that are as good as the candidate', () => {
  /** Gates of a candidate far above what serves, at success 0.5, against rivals of these success rates. */
  function promotedAgainst(rates: readonly number[], name: string, alike = false): number {
    const stream = rng('error-rates', 'rivals', name)
    const gate = pairedGate({ margin: 0, alpha: 0.05 })
    let promoted = 0
    for (let i = 0; i < GATES; i++) {
      const candidate = ids.map(() => Number(stream.next() < 0.5))
      const pairs = (rate: number) => {
        // Rivals that are alike agree with the candidate on half of the tasks.
        const score = (own: number) => (alike && stream.next() < 0.5 ? own : Number(stream.next() < rate))
        return ids.map((task, i) => ({ task, baseline: score(candidate[i] ?? 0), candidate: candidate[i] ?? 0 }))
      }
      const rivals = Object.fromEntries(rates.map((rate, i) => [`rival ${i}`, pairs(rate)]))
      const outcomes = ids.map((task, i) => ({ task, baseline: 0, candidate: candidate[i] ?? 0 }))
      if (gate.decide({ outcomes, rivals, use: whole, rewardRange: [0, 1] }).decision === 'promote') promoted++
    }
    return promoted
  }

  it.each<[string, readonly number[], boolean]>([
    ['one', [0.5], false],
    ['three', [0.5, 0.5, 0.5], false],
    ['three that mostly do as it does', [0.5, 0.5, 0.5], true],
    // The worst case of an intersection-union test: the others are beaten for sure.
    ['one of three, the others far below', [0.5, 0.05, 0.05], false],
  ])('let a false promotion through at most alpha of the time: %s', (name, rates, alike) => {
    expect(promotedAgainst(rates, name, alike)).toBeLessThanOrEqual(BOUND)
  })

  it('exactly: one rival of the same success, at every rate of disagreement', () => {
    const critical = criticalWins(N, 0, 0.05)
    for (let discordant = 0.02; discordant <= 1; discordant += 0.02) {
      const equal = { tasks: N, wins: discordant / 2, losses: discordant / 2 }
      expect(promotionProbability(critical, equal)).toBeLessThanOrEqual(0.05)
    }
  })

  it('and are beaten without a price for their number where all are below', () => {
    expect(promotedAgainst([0.2, 0.2, 0.2], 'power')).toBeGreaterThan(0.9 * GATES)
  })
})

it('promotes a true gain: from 0.3 to 0.6 on 100 tasks nearly always', () => {
  expect(promotions(passFail(0.3, 0.3), 0.02, 'power')).toBeGreaterThan(0.9 * GATES)
})
