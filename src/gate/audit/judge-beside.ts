import { z } from 'zod'
import type { Audit, AuditDraw } from '../../core/index.ts'
import { judgeCalibration } from '../../reward/index.ts'
import { round } from '../round.ts'
import { countingLabels, hasJudgeBeside, truthOf } from './truth.ts'

const Mean = z.number().nullable()

/** What a judge said of sessions beside what was true of them. */
export const JudgeBeside = z.object({
  /** Sessions of which both are known. */
  n: z.number(),
  /** Mean squared distance of its words from the truth, and that of the mean truth told of everything. */
  brier: z.number(),
  constantBrier: z.number(),
  /** What it says less what is true, mean with 95 % interval; `null` of fewer than two. */
  bias: z.object({ mean: z.number(), low: z.number(), high: z.number() }).nullable(),
  /** How true it was what it said: five bins of what it said, without those that hold nothing. */
  bins: z.array(z.object({ from: z.number(), to: z.number(), n: z.number(), told: Mean, truth: Mean })),
})
export type JudgeBeside = z.infer<typeof JudgeBeside>

/** How well a judge foretells the truth of draws; `null` where no judge is asked beside, or nothing is known of both. */
export function judgeBeside(draws: readonly AuditDraw[], audit: Audit, now: number): JudgeBeside | null {
  if (!hasJudgeBeside(audit)) return null
  const pairs = draws.flatMap((draw) => {
    const [word] = countingLabels(draw.labels, { by: 'judge' })
    const { truth } = truthOf(draw, audit, now)
    return truth === null || typeof word?.truth !== 'number' ? [] : [{ told: word.truth, truth }]
  })
  const found = judgeCalibration(pairs, 5)
  if (found === null) return null
  const { n, brier, constantBrier, bias, reliability } = found
  return {
    n,
    brier: round(brier),
    constantBrier: round(constantBrier),
    bias: bias && { mean: round(bias.mean), low: round(bias.low), high: round(bias.high) },
    bins: reliability
      .filter((row) => row.n > 0)
      .map((row) => ({ ...row, told: roundOrNull(row.told), truth: roundOrNull(row.truth) })),
  }
}

const roundOrNull = (value: number | null) => (value === null ? null : round(value))
