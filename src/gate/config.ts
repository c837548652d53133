import { z } from 'zod'
import { LifetimeAlpha, ParameterName } from '../core/index.ts'
import { GateError } from './errors.ts'

/** A metric per attempt that must not get worse by more than `allowed`; higher is worse. */
export const GuardLimit = z.strictObject({
  /** How much worse, in the metric's own unit, the candidate's mean may be. */
  allowed: z.number().nonnegative(),
  /** Values outside are clipped to it: the test needs bounds, and one wild attempt must not decide. */
  range: z.tuple([z.number(), z.number()]).refine(([low, high]) => low < high, 'the range must be [low, high]'),
})
export type GuardLimit = z.infer<typeof GuardLimit>

/** Tasks that were learned before and must not be forgotten. */
export const SuiteLimit = z.strictObject({
  /** How much lower the candidate's mean score on the suite may be. */
  allowed: z.number().nonnegative(),
})
export type SuiteLimit = z.infer<typeof SuiteLimit>

export const PairedGateConfig = z
  .strictObject({
    /** The candidate's mean score must be shown to exceed the baseline's by more than this. */
    margin: z.number(),
    /** Probability of a false promotion, at most, over all uses of a holdout. One-sided. */
    alpha: z.number().positive().max(0.25),
    /** What all candidates of the agent may spend together: a use of a holdout has the smaller part. `null`: no bound. */
    lifetime: LifetimeAlpha.nullable().prefault({}),
    /** Share of tasks that must have a score in both arms. */
    minCoverage: z.number().positive().max(1).default(0.95),
    guards: z.record(z.string().min(1), GuardLimit).default({}),
    suites: z.record(z.string().min(1), SuiteLimit).default({}),
    /** `effect`: the smallest true difference that is worth finding; below it the candidate is held. */
    power: z.strictObject({ effect: z.number() }).optional(),
    /**
     * The candidate gives up what a Parameter learned, one `of` so many that could be retired: made by `Gate.retiring`. The
     * margin is what may be lost by it, negative.
     */
    retiring: z.strictObject({ parameter: ParameterName, of: z.int().positive() }).exactOptional(),
  })
  .refine(({ margin, retiring }) => !retiring || margin < 0, {
    path: ['margin'],
    error: 'what is retired may lose something: the margin is negative',
  })
  .refine(({ margin, power }) => !power || power.effect > margin, {
    path: ['power', 'effect'],
    error: 'the effect must be larger than the margin',
  })
export type PairedGateConfig = z.infer<typeof PairedGateConfig>

/** @throws GateError naming every entry that is wrong. */
export function parseConfig(config: unknown): PairedGateConfig {
  const parsed = PairedGateConfig.safeParse(config)
  if (parsed.success) return parsed.data
  throw new GateError({
    code: 'gate/config',
    message: `The gate's configuration is wrong: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
    hint: 'A gate takes margin, alpha, lifetime, minCoverage, guards, suites and power.',
    cause: parsed.error,
  })
}
