import type { Audit, AuditDraw, AuditLabel } from '../../core/index.ts'

/** What is true of a draw, as far as its labels say. */
export interface Truth {
  /** False while it waits for labels. */
  readonly settled: boolean
  /** From 0, wrong, to 1, right; `null` while it waits, and where it cannot be told. */
  readonly truth: number | null
  /** Labels that it waits for. */
  readonly needs: number
}

/** Labels that count: of the source that was asked, and not taken back. */
export function countingLabels(labels: readonly AuditLabel[], { by }: Pick<Audit, 'by'>): readonly AuditLabel[] {
  return labels.filter((label) => label.by === by && label.withdrawnAt === null)
}

/**
 * The median of what reviewers say, once there are as many as are asked. Where an even number disagrees in its middle, one
 * more is asked, so that contradictions are decided and never averaged. What most say cannot be told is missing. A session
 * that was erased before it was judged is missing, too: nobody can judge it any more.
 */
export function truthOf(
  { labels, trajectory, sequence }: Pick<AuditDraw, 'labels' | 'trajectory' | 'sequence'>,
  audit: Pick<Audit, 'by' | 'reviewers'>,
): Truth {
  const said = countingLabels(labels, audit).map(({ truth }) => truth)
  const told = said.filter((truth) => truth !== null).toSorted((a, b) => a - b)
  const lacking = Math.max(0, audit.reviewers - said.length)
  if (lacking > 0) {
    if (trajectory === `erased-${sequence}`) return { settled: true, truth: null, needs: 0 }
    return { settled: false, truth: null, needs: lacking }
  }
  if (told.length * 2 < said.length) return { settled: true, truth: null, needs: 0 }
  const upper = told[Math.floor(told.length / 2)] ?? 0
  const lower = told[Math.ceil(told.length / 2) - 1] ?? 0
  const erased = trajectory === `erased-${sequence}`
  if (lower === upper) return { settled: true, truth: upper, needs: 0 }
  return erased ? { settled: true, truth: null, needs: 0 } : { settled: false, truth: null, needs: 1 }
}
