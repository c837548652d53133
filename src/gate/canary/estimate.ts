import { round } from '../round.ts'
import type { Observation } from './difference-test.ts'

/** About how much higher the candidate's mean is: for people and for the ramp; nothing is promoted by it. */
export interface Estimate {
  /** `null` before both arms were seen. */
  readonly difference: number | null
  /** An approximate 95 % interval that may be looked at at any time; `null` before both arms were seen. */
  readonly interval: readonly [number, number] | null
}

/** Sum of squares at which the interval is tightest: some two hundred candidate sessions with 0/1 values. */
const TIGHTEST_AT = 50
const LEVEL = 0.05
const LOG_LEVEL = -2 * Math.log(LEVEL)
const RHO2 = (LOG_LEVEL + Math.log(LOG_LEVEL + 1)) / TIGHTEST_AT

/**
 * ΣY/Σπ over the compared sessions, with Y as in `difference-test.ts`, centred at the mean of all: a mean of the
 * sessions' differences in which a session counts as its propensity. Arms are compared within a share, so a drift across
 * steps of the ramp does not enter. The interval is Robbins' normal mixture with the variance that was seen
 * (asymptotically valid: Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024).
 */
export function estimateDifference(observations: readonly Observation[]): Estimate {
  let [candidates, baselines, total] = [0, 0, 0]
  for (const { candidate, propensity, value } of observations) {
    if (value === null || propensity <= 0 || propensity >= 1) continue
    if (candidate) candidates++
    else baselines++
    total += value
  }
  if (candidates === 0 || baselines === 0) return { difference: null, interval: null }
  const mean = total / (candidates + baselines)
  // Sums of Y, π, Y², πY and π².
  let [y, weight, yy, weightY, weights2] = [0, 0, 0, 0, 0]
  for (const { candidate, propensity, value } of observations) {
    if (value === null || propensity <= 0 || propensity >= 1) continue
    const term = candidate ? value - mean : ((mean - value) * propensity) / (1 - propensity)
    y += term
    weight += propensity
    yy += term ** 2
    weightY += propensity * term
    weights2 += propensity ** 2
  }
  return fromSums({ y, weight, yy, weightY, weights2 })
}

/** The same of terms whose mean is their weight times the difference, as the test of truth has them. */
export function estimateOf(terms: readonly { readonly value: number; readonly weight: number }[]): Estimate {
  const sums = { y: 0, weight: 0, yy: 0, weightY: 0, weights2: 0 }
  for (const { value, weight } of terms) {
    sums.y += value
    sums.weight += weight
    sums.yy += value ** 2
    sums.weightY += weight * value
    sums.weights2 += weight ** 2
  }
  return sums.yy === 0 ? { difference: null, interval: null } : fromSums(sums)
}

interface Sums {
  readonly y: number
  readonly weight: number
  readonly yy: number
  readonly weightY: number
  readonly weights2: number
}

function fromSums({ y, weight, yy, weightY, weights2 }: Sums): Estimate {
  const difference = y / weight
  const squares = Math.max(0, yy - 2 * difference * weightY + difference ** 2 * weights2)
  const scale = squares * RHO2 + 1
  const radius = Math.sqrt(((2 * scale) / RHO2) * Math.log(Math.sqrt(scale) / LEVEL)) / weight
  return { difference: round(difference), interval: [round(difference - radius), round(difference + radius)] }
}
