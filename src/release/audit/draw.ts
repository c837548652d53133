import { Audit, type Canary, JUDGE_ALONE, type JudgedSession, sha256, type TrajectoryId } from '../../core/index.ts'
import { hasJudgeBeside } from '../../gate/index.ts'
import { placeOf } from '../assignment.ts'
import type { Waiting } from './known-truths.ts'

/** How a canary is audited, by the rules that it began with; `null` for one that is not. */
export function auditOf({ gate }: Pick<Canary, 'gate'>): Audit | null {
  const { data } = Audit.safeParse(gate.config['audit'])
  return data ?? null
}

/**
 * Whether a session is drawn for the audit: by a hash of its id with the canary's secret, so that nobody can foretell it,
 * nothing of it is done while the session is under way, and whoever asks again gets the same. Its arm has no part in it:
 * the hash that assigned the arm has another beginning.
 * @param propensity with which it got the candidate.
 * @param waiting draws before it that wait for their truth: decided by earlier sessions alone.
 */
export function drawFor(
  { salt, shares }: Pick<Canary, 'salt' | 'shares'>,
  audit: Audit,
  session: TrajectoryId,
  { propensity, waiting }: { readonly propensity: number; readonly waiting: Waiting },
): JudgedSession['audit'] {
  const probability = probabilityAt(audit.share, shares, propensity)
  if (probability <= 0 || waiting.truths >= audit.queue || waiting.words >= mostForJudge) return null
  const place = placeOf(JSON.stringify(['audit', salt]), session)
  const id = () => sha256(JSON.stringify(['draw', salt, session])).slice(0, 16)
  const draw = place < probability ? id() : null
  if (!hasJudgeBeside(audit)) return { probability, draw }
  // By the same place: whatever is labelled is among what the judge is asked about.
  const asked = Math.max(probabilityAt(audit.judge?.share ?? 0, shares, propensity), probability)
  const judged = draw ?? (place < asked ? JUDGE_ALONE + id() : null)
  return { probability, draw, judge: { probability: asked, draw: judged } }
}

/** Nothing more is drawn while so many sessions wait for a judge's word. */
const mostForJudge = 1_000

/**
 * With which probability a session is drawn. What a label tells of the difference grows with π·(1 − π), so that at a share
 * of 1 % nearly all labels would be the baseline's and tell nothing: they are spent where they tell most.
 */
export function probabilityAt(share: number, shares: readonly number[], propensity: number): number {
  const tells = (pi: number) => pi * (1 - pi)
  const most = Math.max(...shares.map(tells), tells(propensity))
  return most > 0 ? share * (tells(propensity) / most) : 0
}
