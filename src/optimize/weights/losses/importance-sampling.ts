import { perToken } from './per-token.ts'
import type { SampleTerms, Slopes } from './policy-loss.ts'

/** −ρ·A with ρ = exp(lp − lp_old): policy gradient, corrected for who sampled. dρ/dlp = ρ. */
export const importanceSampling = (terms: SampleTerms): Slopes =>
  perToken(terms, (ratio, advantage) => ({ loss: -ratio * advantage, slope: -ratio * advantage }))
