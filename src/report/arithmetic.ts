import { z } from 'zod'
import type { PairedOutcome, PairedReceipt } from '../core/index.ts'
import { retiredIn } from '../gate/index.ts'
import type { GateArithmetic, RivalArithmetic } from './run-report.ts'

/** What a gate may have computed or been configured with: each is shown if it is there. */
const Evidence = z.object({
  alpha: z.number().nullable().catch(null),
  interval: z.tuple([z.number(), z.number()]).nullable().catch(null),
  pValues: z.object({ aboveMargin: z.number().nullable().catch(null) }).catch({ aboveMargin: null }),
  rivals: z
    .record(
      z.string(),
      z.object({
        standing: z.string().nullable().catch(null),
        interval: z.tuple([z.number(), z.number()]).nullable().catch(null),
      }),
    )
    .catch({}),
})
const Config = z.object({
  alpha: z.number().nullable().catch(null),
  margin: z.number().nullable().catch(null),
  minCoverage: z.number().nullable().catch(null),
  rewardRange: z.tuple([z.number(), z.number()]).nullable().catch(null),
})

/** A receipt in the order in which one would work it out: counts from its outcomes, the rest as the gate states it. */
export function arithmeticOf(receipt: PairedReceipt): GateArithmetic {
  const { outcomes, use, decision, reasons, evidence } = receipt
  const { interval, pValues, alpha: level } = Evidence.parse(evidence)
  const { alpha, margin, minCoverage } = Config.parse(receipt.gate.config)
  const pairs = scoredPairs(outcomes)
  return {
    receipt: receipt.id,
    gate: receipt.gate.name,
    decision,
    reasons,
    tasks: outcomes.length,
    scored: pairs.length,
    better: pairs.filter(({ baseline, candidate }) => candidate > baseline).length,
    worse: pairs.filter(({ baseline, candidate }) => candidate < baseline).length,
    means: meansOf(pairs),
    use: { number: use.use, alpha: use.alpha, level: level ?? use.alpha, total: alpha },
    margin,
    retires: retiredIn(receipt),
    minCoverage,
    interval,
    pValue: pValues.aboveMargin,
    rivals: rivalsOf(receipt),
    evidence,
  }
}

function rivalsOf({ rivals = {}, evidence }: PairedReceipt): readonly RivalArithmetic[] {
  const stated = Evidence.parse(evidence).rivals
  const lead = ({ means }: RivalArithmetic) => (means ? means.candidate - means.rival : -Infinity)
  return Object.entries(rivals)
    .map(([name, outcomes]): RivalArithmetic => {
      const pairs = scoredPairs(outcomes)
      const means = meansOf(pairs)
      const { standing = null, interval = null } = stated[name] ?? {}
      return {
        name,
        scored: pairs.length,
        means: means && { rival: means.baseline, candidate: means.candidate },
        interval,
        beaten: standing === null ? null : standing === 'beaten',
      }
    })
    .toSorted((a, b) => lead(a) - lead(b) || (a.name < b.name ? -1 : 1))
}

interface Pair {
  readonly baseline: number
  readonly candidate: number
}

const scoredPairs = (outcomes: readonly PairedOutcome[]): readonly Pair[] =>
  outcomes.flatMap(({ baseline, candidate }) =>
    baseline === null || candidate === null ? [] : [{ baseline, candidate }],
  )

function meansOf(pairs: readonly Pair[]): Pair | null {
  const mean = (arm: keyof Pair) => pairs.reduce((sum, pair) => sum + pair[arm], 0) / pairs.length
  return pairs.length === 0 ? null : { baseline: mean('baseline'), candidate: mean('candidate') }
}

/** The best reward there is: by the gate's configuration, or the best one seen. */
export function ceilingOf({ gate, outcomes }: PairedReceipt): number {
  const { rewardRange } = Config.parse(gate.config)
  const seen = outcomes.flatMap(({ baseline, candidate }) => [baseline ?? -Infinity, candidate ?? -Infinity])
  return rewardRange?.[1] ?? seen.reduce((a, b) => Math.max(a, b), -Infinity)
}
