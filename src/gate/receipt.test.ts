import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contentHash,
  Json,
  type PairedOutcome,
  type PairedReceipt,
  ReceiptId,
  rng,
  TaskId,
  VersionId,
} from '../core/index.ts'
import { holdoutHash } from './ledger.ts'
import { pairedGate } from './paired-gate.ts'
import type { ReceiptInput } from './receipt.ts'
import { replay } from './replay.ts'

const gate = pairedGate({
  margin: 0.02,
  alpha: 0.05,
  minCoverage: 0.8,
  guards: { calls: { allowed: 0.5, range: [0, 5] } },
  suites: { old: { allowed: 0.1 } },
  power: { effect: 0.1 },
})

function inputOf(outcomes: readonly PairedOutcome[]): ReceiptInput {
  return {
    agent: 'support',
    baseline: { model: VersionId.parse('v1') },
    candidate: { model: VersionId.parse('v2') },
    outcomes,
    suites: { old: outcomes },
    use: { holdout: holdoutHash(outcomes.map(({ task }) => task)), use: 1, alpha: 0.03, run: null, at: 12 },
    rewardRange: [-0.5, 1],
  }
}

const score = fc.option(fc.double({ min: -0.5, max: 1, noNaN: true }), { freq: 30 })
const anyOutcomes = fc
  .array(fc.record({ baseline: score, candidate: score, calls: fc.tuple(fc.nat(6), fc.nat(6)) }), {
    minLength: 1,
    maxLength: 40,
  })
  .map((rows) =>
    rows.map(({ baseline, candidate, calls }, i) => ({
      task: TaskId.parse(`task-${i}`),
      baseline,
      candidate,
      guards: { baseline: { calls: calls[0] }, candidate: { calls: calls[1] } },
    })),
  )
const promoted = gate.makeReceipt(
  inputOf(
    Array.from({ length: 60 }, (_, i) => ({
      task: TaskId.parse(`task-${i}`),
      baseline: i < 40 ? 0 : 1,
      candidate: 1,
      guards: { baseline: { calls: 0 }, candidate: { calls: 0 } },
    })),
  ),
)

/** The receipt with another id: the hash of what it now says. */
function resigned(receipt: PairedReceipt): PairedReceipt {
  const { id: _id, ...body } = receipt
  return { ...receipt, id: ReceiptId.parse(contentHash(Json.parse(body))) }
}

describe('replay', () => {
  it('makes the decision of the receipt again, also after a round trip through JSON text', () => {
    fc.assert(
      fc.property(anyOutcomes, (outcomes) => {
        const receipt = gate.makeReceipt(inputOf(outcomes))
        expect(receipt.decision).toBe(gate.decide(inputOf(outcomes)).decision)
        expect(replay(receipt)).toBe(receipt.decision)
        expect(replay(JSON.parse(JSON.stringify(receipt)))).toBe(receipt.decision)
      }),
    )
  })

  it('covers a promotion', () => {
    expect(promoted.decision).toBe('promote')
    expect(replay(promoted)).toBe('promote')
  })

  it.each<[string, (receipt: PairedReceipt) => PairedReceipt]>([
    ['the decision', (r) => ({ ...r, decision: 'hold' })],
    ['a score', (r) => ({ ...r, outcomes: r.outcomes.map((o, i) => (i === 0 ? { ...o, candidate: 0.5 } : o)) })],
    ['the margin', (r) => ({ ...r, gate: { ...r.gate, config: { ...r.gate.config, margin: 0 } } })],
    ['the use', (r) => ({ ...r, use: { ...r.use, alpha: 0.05 } })],
    ['a version', (r) => ({ ...r, candidate: { model: VersionId.parse('v3') } })],
    ['the evidence', (r) => ({ ...r, evidence: {} })],
    ['a suite', (r) => ({ ...r, suites: { old: [] } })],
  ])('finds out that %s was changed', (_, change) => {
    expect(() => replay(change(promoted))).toThrow(expect.objectContaining({ code: 'gate/receipt-tampered' }))
  })

  it('finds out a decision that its outcomes do not lead to, though its hash is right', () => {
    const waiting = gate.makeReceipt(inputOf(promoted.outcomes.map((o) => ({ ...o, candidate: o.baseline }))))
    const forged = resigned({ ...waiting, decision: 'promote' })
    expect(() => replay(forged)).toThrow(expect.objectContaining({ code: 'gate/receipt-contradicted' }))
  })

  it('refuses what is no receipt, and a receipt of a gate that it does not know', () => {
    expect(() => replay({ decision: 'promote' })).toThrow(expect.objectContaining({ code: 'gate/receipt-malformed' }))
    const other = resigned({ ...promoted, gate: { ...promoted.gate, name: 'greedy' } })
    expect(() => replay(other)).toThrow(expect.objectContaining({ code: 'gate/receipt-of-unknown-gate' }))
  })
})

describe('rivals', () => {
  const against = (outcomes: readonly PairedOutcome[], rival: number | null): ReceiptInput => ({
    ...inputOf(outcomes),
    rivals: { primed: outcomes.map(({ task, candidate }) => ({ task, baseline: rival, candidate })) },
  })

  it('are kept with their outcomes, and the decision is made from them again', () => {
    const held = gate.makeReceipt(against(promoted.outcomes, 1))
    expect(held.decision).toBe('hold')
    expect(held.rivals?.['primed']).toHaveLength(60)
    expect(replay(JSON.parse(JSON.stringify(held)))).toBe('hold')
    expect(replay(gate.makeReceipt(against(promoted.outcomes, 0)))).toBe('promote')

    const { rivals: _rivals, ...without } = held
    expect(() => replay(without)).toThrow(expect.objectContaining({ code: 'gate/receipt-tampered' }))
    const forged = resigned({ ...held, decision: 'promote' })
    expect(() => replay(forged)).toThrow(expect.objectContaining({ code: 'gate/receipt-contradicted' }))
  })

  it('replay whatever they did', () => {
    fc.assert(
      fc.property(anyOutcomes, score, (outcomes, rival) => {
        const receipt = gate.makeReceipt(against(outcomes, rival))
        expect(replay(JSON.parse(JSON.stringify(receipt)))).toBe(receipt.decision)
      }),
    )
  })

  it('leave no trace where there are none: such receipts are what they were before', () => {
    expect(gate.makeReceipt({ ...inputOf(promoted.outcomes), rivals: {} })).toEqual(promoted)
    expect(promoted).not.toHaveProperty('rivals')
  })

  it('a remark of the caller is told after the deciding reason', () => {
    const input = against(promoted.outcomes, 1)
    const [deciding, ...others] = gate.makeReceipt(input).reasons
    const receipt = gate.makeReceipt({ ...input, remarks: ['It is the primed policy.'] })
    expect(receipt.reasons).toEqual([deciding, 'It is the primed policy.', ...others])
    expect(replay(receipt)).toBe('hold')
  })
})

describe('makeReceipt', () => {
  it('gives equal evidence in another order the same receipt', () => {
    fc.assert(
      fc.property(anyOutcomes, fc.integer(), (outcomes, seed) => {
        const shuffled = rng(seed).shuffle(outcomes)
        expect(gate.makeReceipt(inputOf(shuffled))).toEqual(gate.makeReceipt(inputOf(outcomes)))
      }),
    )
  })
})
