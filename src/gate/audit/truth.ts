import { type Audit, type AuditDraw, type AuditLabel, groupBy } from '../../core/index.ts'
import { Trust } from '../../reward/index.ts'

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

/** What a truth hangs on, beside what was said. */
export type TruthRules = Pick<Audit, 'by' | 'reviewers' | 'patienceMs'> & Trusting

interface Trusting {
  readonly trusted: readonly string[]
}

/**
 * The median of what voices say, once there are as many as are asked. Where an even number disagrees in its middle, one
 * more is asked, so that contradictions are decided and never averaged; where nobody decides it in time, it cannot be told,
 * which counts against the candidate. What most say cannot be told is missing. A session that was erased before it was
 * judged is missing, too: nobody can judge it any more. Programs speak with one voice.
 * @param now milliseconds since the epoch.
 */
export function truthOf(
  { labels, trajectory, sequence }: Pick<AuditDraw, 'labels' | 'trajectory' | 'sequence'>,
  audit: TruthRules,
  now: number,
): Truth {
  const counting = countingLabels(labels, audit)
  const said = voicesOf(counting, audit)
  const told = said.filter((truth) => truth !== null).toSorted((a, b) => a - b)
  const lacking = Math.max(0, (audit.by === 'person' ? audit.reviewers : 1) - said.length)
  const erased = trajectory === `erased-${sequence}`
  if (lacking > 0) return erased ? missing : { settled: false, truth: null, needs: lacking }
  if (told.length * 2 < said.length) return missing
  const [lower, upper] = middleOf(told)
  if (lower === upper) return { settled: true, truth: upper, needs: 0 }
  const latest = Math.max(...counting.map(({ at }) => at))
  return erased || now - latest >= audit.patienceMs ? missing : { settled: false, truth: null, needs: 1 }
}

/** Whether a judge is asked about sessions whose truth somebody else tells. */
export function hasJudgeBeside({ by, judge }: Pick<Audit, 'by' | 'judge'>): boolean {
  return judge !== null && by !== 'judge'
}

/** Until when a judge's words count. */
export interface WordsUntil extends Pick<Audit, 'patienceMs'> {
  /** When the canary ended: nobody asks the judge any more; `null` while it runs. */
  readonly endedAt: number | null
}

/**
 * What a judge said of a draw, whoever else says what is true of it: settled once it said something, readable or not, or its
 * time is over. That is a fixed time after the session began, whatever was said meanwhile: a word that comes later counts no
 * more, and the truths that are known do not wait for it.
 */
export function judgeWordOf(
  { labels, at: began }: Pick<AuditDraw, 'labels' | 'at'>,
  { patienceMs, endedAt }: WordsUntil,
  now: number,
): Truth {
  const closes = began + patienceMs
  const inTime = ({ at }: AuditLabel) => at < closes && (endedAt === null || at <= endedAt)
  const [said] = countingLabels(labels, { by: 'judge' }).filter(inTime)
  if (said) return { settled: true, truth: said.truth, needs: 0 }
  return endedAt !== null || now >= closes ? missing : { settled: false, truth: null, needs: 1 }
}

const missing: Truth = { settled: true, truth: null, needs: 0 }

/** One word of each voice: of several labels their median. */
function voicesOf(labels: readonly AuditLabel[], { trusted }: Trusting): readonly (number | null)[] {
  const trust = new Trust(trusted)
  const voices = groupBy(labels, ({ reviewer }) => trust.voiceOf(reviewer))
  return [...voices.values()].map((own) => {
    const told = own.flatMap(({ truth }) => (truth === null ? [] : [truth])).toSorted((a, b) => a - b)
    if (told.length * 2 < own.length) return null
    const [lower, upper] = middleOf(told)
    return (lower + upper) / 2
  })
}

function middleOf(sorted: readonly number[]): readonly [lower: number, upper: number] {
  return [sorted[Math.ceil(sorted.length / 2) - 1] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0]
}
