import type { CreditEstimator } from '../core/index.ts'

/** Marks an estimator that is made of others as one that reads times, where any of them does. */
export const readsTimesAs = (...parts: readonly CreditEstimator[]): Pick<CreditEstimator, 'readsTimes'> =>
  parts.some(({ readsTimes }) => readsTimes) ? { readsTimes: true } : {}
