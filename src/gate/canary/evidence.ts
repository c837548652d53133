import type { Json } from '../../core/index.ts'
import type { RewardRange } from '../reward-range.ts'
import { round } from '../round.ts'
import type { Observation } from './difference-test.ts'
import type { Audited } from './audited.ts'
import type { Basis } from './config.ts'
import type { Measured, Tested } from './measure.ts'
import { finite } from './words.ts'

/** What was measured, for people and reports; nothing is decided from it. */
export function evidenceOf(measured: Measured, range: RewardRange, basis: Basis): { readonly [key: string]: Json } {
  const { earned, gain, harm, guards, estimate, candidates, repeats } = measured
  return {
    // What a promotion rests on: `audited`, `held-out` or `behaviour-only`.
    basis,
    ...(measured.truth && { truth: truthOf(measured.truth) }),
    test: 'e-values by betting on inverse-propensity-weighted rewards, valid at every look',
    sessions: { candidate: candidates, baseline: earned.length - candidates },
    compared: gain.sessions,
    ...(repeats > 0 && { repeats }),
    missing: missingByArm(earned),
    baselineMisses: shown(measured.baselineMisses),
    means: { candidate: meanOf(earned, true, range), baseline: meanOf(earned, false, range) },
    difference: estimate.difference,
    interval: estimate.interval && [...estimate.interval],
    gain: shown(gain),
    harm: shown(harm),
    guards: Object.fromEntries(
      guards.map((guard) => [
        guard.name,
        {
          ...shown(guard),
          ...(guard.isRelative ? { relative: guard.tolerance } : { tolerance: guard.tolerance }),
          difference: guard.estimate.difference,
          interval: guard.estimate.interval && [...guard.estimate.interval],
          coverage: round(guard.coverage),
        },
      ]),
    ),
  }
}

function truthOf({ gain, harm, estimate, overpaid, judge, ...counted }: Audited): { readonly [key: string]: Json } {
  return {
    ...counted,
    ...(judge && { judge: { ...judge } }),
    ...(overpaid && {
      overpaid: {
        ...shown(overpaid),
        difference: overpaid.estimate.difference,
        interval: overpaid.estimate.interval && [...overpaid.estimate.interval],
        paid: Object.fromEntries(overpaid.paid.map(({ signal, difference }) => [signal, difference])),
      },
    }),
    difference: estimate.difference,
    interval: estimate.interval && [...estimate.interval],
    gain: shown(gain),
    harm: shown(harm),
  }
}

function missingByArm(earned: readonly Observation[]): { readonly baseline: number; readonly candidate: number } {
  const missing = earned.filter(({ value }) => value === null)
  const candidate = missing.filter((o) => o.candidate).length
  return { baseline: missing.length - candidate, candidate }
}

/** In units of the reward; `null` without any. For people: steps with different shares are thrown together. */
function meanOf(earned: readonly Observation[], candidate: boolean, [low, high]: RewardRange): number | null {
  let [sum, count] = [0, 0]
  for (const o of earned) {
    if (o.candidate !== candidate || o.value === null) continue
    sum += o.value
    count++
  }
  return count === 0 ? null : round(low + ((high - low) * sum) / count)
}

function shown({ now, most, bound }: Pick<Tested, 'now' | 'most' | 'bound'>): { readonly [key: string]: Json } {
  return { eValue: finite(now), most: finite(most), bound: finite(bound) }
}
