import { z } from 'zod'

/** What all candidates of an agent may spend together, over its life. */
export const LifetimeAlpha = z.strictObject({
  /** What is bounded, by `control`. */
  alpha: z.number().positive().max(0.25).default(0.1),
  /**
   * `fdr`: the expected share of wrong promotions among all promotions, at any time, is at most `alpha` (false discovery
   * rate). `fwer`: the probability of any wrong promotion, ever, is at most `alpha` (family-wise error rate).
   */
  control: z.enum(['fdr', 'fwer']).default('fdr'),
})
export type LifetimeAlpha = z.infer<typeof LifetimeAlpha>

/** The level that one candidate of an agent is tested at, of what the agent's life has. Written before its first outcome. */
export const CandidateLevel = z.strictObject({
  agent: z.string().min(1),
  /** 1 for the agent's first candidate that was tested. */
  candidate: z.int().positive(),
  /** What is tested: a run, or a canary that is tested without one. All tests of a candidate share its level. */
  key: z.string().min(1),
  alpha: z.number().positive().max(1),
  /** Candidates that had been promoted before it was tested, retirements left out. */
  promotions: z.int().nonnegative(),
  /** Whether it was promoted; of a retirement false. */
  promoted: z.boolean(),
  at: z.number(),
})
export type CandidateLevel = z.infer<typeof CandidateLevel>
