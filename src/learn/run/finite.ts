import type { Metrics } from '../../core/index.ts'

/** Metrics that are numbers that stores hold: a mean over nothing is none, and is left out. */
export const finite = (metrics: Metrics): Metrics =>
  Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)))
