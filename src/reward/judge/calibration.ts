import type { Signal } from '../../core/index.ts'
import { brier, mean, type Prediction, reliability, type ReliabilityRow } from '../learned/accuracy.ts'
import { boundsOf } from '../learned/lower-bound.ts'

/** What a judge said beside what people, or later outcomes, said of the same episodes. */
export interface JudgeCalibration {
  readonly n: number
  /** Mean squared distance from the truth; the constant's is that of the mean truth told of everything. */
  readonly brier: number
  readonly constantBrier: number
  /** What the judge says less what is true, mean with 95 % interval; `null` of fewer than two. */
  readonly bias: { readonly mean: number; readonly low: number; readonly high: number } | null
  readonly reliability: readonly ReliabilityRow[]
}

/** @returns `null` where nothing was said by both. */
export function judgeCalibration(told: readonly Prediction[], bins = 10): JudgeCalibration | null {
  if (told.length === 0) return null
  const constant = mean(told.map(({ truth }) => truth))
  return {
    n: told.length,
    brier: brier(told),
    constantBrier: brier(told.map(({ truth }) => ({ told: constant, truth }))),
    bias:
      told.length < 2
        ? null
        : boundsOf(
            told.map(({ told: said, truth }) => said - truth),
            0.025,
          ),
    reliability: reliability(told, bins),
  }
}

/** Which signals are compared: numbers in [0, 1], or yes and no. */
export interface SaidAndTrue {
  readonly said: Pick<Signal, 'name' | 'source'>
  readonly truth: Pick<Signal, 'name' | 'source'>
}

/** The mean of what was said of each episode beside the mean of what was true of it; episodes without either are left out. */
export function saidAndTrue(signals: readonly Signal[], { said, truth }: SaidAndTrue): readonly Prediction[] {
  const means = (wanted: Pick<Signal, 'name' | 'source'>) => {
    const found = new Map<string, number[]>()
    for (const one of signals) {
      const value = typeof one.value === 'boolean' ? Number(one.value) : one.value
      if (one.name !== wanted.name || one.source !== wanted.source || one.node !== null) continue
      if (typeof value === 'number' && value >= 0 && value <= 1) {
        found.set(one.trajectory, [...(found.get(one.trajectory) ?? []), value])
      }
    }
    return new Map([...found].map(([trajectory, values]) => [trajectory, mean(values)]))
  }
  const truths = means(truth)
  return [...means(said)].flatMap(([trajectory, told]) => {
    const is = truths.get(trajectory)
    return is === undefined ? [] : [{ told, truth: is }]
  })
}
