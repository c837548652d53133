import type { Audit, AuditDraw, AuditOutcome, JudgedSession } from '../../core/index.ts'
import { hasJudgeBeside, judgeWordOf, type Truth, truthOf } from '../../gate/index.ts'
import { asksForTruth } from './draws-read.ts'

/** What is true of the sessions of a canary that were drawn, and what a judge said of them, by their sequence. */
export interface KnownTruths {
  readonly truths: ReadonlyMap<number, Truth>
  readonly words: ReadonlyMap<number, Truth>
}

export const nothingKnown: KnownTruths = { truths: new Map(), words: new Map() }

/**
 * @param draws those that only a judge is asked about among them, where there is one.
 * @param endedAt when the canary ended; `null` while it runs.
 */
export function knownTruths(
  draws: readonly AuditDraw[],
  audit: Audit,
  { now, endedAt }: { readonly now: number; readonly endedAt: number | null },
): KnownTruths {
  const drawn = draws.filter(asksForTruth)
  const asked = hasJudgeBeside(audit) ? draws : []
  return {
    truths: new Map(drawn.map((draw) => [draw.sequence, truthOf(draw, audit, now)])),
    words: new Map(asked.map((draw) => [draw.sequence, judgeWordOf(draw, { ...audit, endedAt }, now)])),
  }
}

/** How many draws wait for their truth, and how many for a judge's word. */
export interface Waiting {
  readonly truths: number
  readonly words: number
}

export function countWaiting({ truths, words }: KnownTruths): Waiting {
  const waiting = (all: KnownTruths['truths']) => [...all.values()].filter(({ settled }) => !settled).length
  return { truths: waiting(truths), words: waiting(words) }
}

/** What a gate is told of a session's draw. */
export function auditOutcome(
  { audit, sequence }: Pick<JudgedSession, 'audit' | 'sequence'>,
  { truths, words }: KnownTruths,
): { readonly audit?: AuditOutcome } {
  if (audit === null) return {}
  const { probability, draw, judge } = audit
  const { settled, truth } = draw === null ? notAsked : (truths.get(sequence) ?? unknown)
  const told = { probability, drawn: draw !== null, settled, truth }
  if (!judge) return { audit: told }
  const asked = judge.draw !== null
  const word = asked ? (words.get(sequence) ?? unknown) : notAsked
  const said = { probability: judge.probability, asked, word: word.truth }
  return { audit: { ...told, settled: settled && word.settled, judge: said } }
}

const notAsked = { settled: true, truth: null }
const unknown = { settled: false, truth: null }
