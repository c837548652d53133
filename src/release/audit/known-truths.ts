import type { Audit, AuditDraw, AuditOutcome, JudgedSession } from '../../core/index.ts'
import { type Truth, truthOf } from '../../gate/index.ts'

/** What is true of the sessions of a canary that were drawn, by their sequence. */
export type KnownTruths = ReadonlyMap<number, Truth>

export function knownTruths(draws: readonly AuditDraw[], audit: Audit, now: number): KnownTruths {
  return new Map(draws.map((draw) => [draw.sequence, truthOf(draw, audit, now)]))
}

/** Draws that wait for their truth. */
export function countWaiting(truths: KnownTruths): number {
  return [...truths.values()].filter(({ settled }) => !settled).length
}

/** What a gate is told of a session's draw. */
export function auditOutcome(
  { audit, sequence }: Pick<JudgedSession, 'audit' | 'sequence'>,
  truths: KnownTruths,
): { readonly audit?: AuditOutcome } {
  if (audit === null) return {}
  const { probability, draw } = audit
  if (draw === null) return { audit: { probability, drawn: false, settled: true, truth: null } }
  const { settled, truth } = truths.get(sequence) ?? { settled: false, truth: null }
  return { audit: { probability, drawn: true, settled, truth } }
}
