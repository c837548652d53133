import { z } from 'zod'
import type { Audit } from '../../../core/index.ts'
import { CanaryConfig, CanaryGuard } from '../../../gate/index.ts'
import { defaultGuardTolerances, type GuardMetric } from '../../../reward/index.ts'

/** A metric's guard: `false` switches it off, and what is left out of an object is the metric's default. */
function guard(metric: GuardMetric) {
  const { tolerance, range } = defaultGuardTolerances[metric]
  const { shape } = CanaryGuard
  return z.union([
    z.literal(false),
    z.strictObject({
      tolerance: shape.tolerance.removeDefault().default(tolerance),
      range: shape.range.default([range[0], range[1]]),
    }),
  ])
}

/** Guards of a canary, by metric: all but the cost, which upstreams do not always tell, so that it would keep a canary waiting. */
const CanaryGuards = z.strictObject({
  brokenCalls: guard('brokenCalls').prefault({}),
  questionsBack: guard('questionsBack').prefault({}),
  inaction: guard('inaction').prefault({}),
  errors: guard('errors').prefault({}),
  toolErrors: guard('toolErrors').prefault({}),
  tokens: guard('tokens').prefault({}),
  seconds: guard('seconds').prefault({}),
  cost: guard('cost').default(false),
} satisfies Record<GuardMetric, z.ZodType>)

/** The audit is a section of its own; and new canaries heed all that speaks of harm. */
const { audit: _, cautions: __, people: ___, ...rules } = CanaryConfig.shape

const Declared = z.strictObject({
  ...rules,
  /**
   * What is drawn. `person`: a person whom a trusted key names (`reporters.trusted`) has one arm in all their sessions, and is
   * evidence once at each share; of anybody else each session is drawn. `session`: each is, for few people.
   */
  assign: z.enum(['person', 'session']).default('person'),
  /** `false` switches all of them off. */
  guards: z.union([z.literal(false), CanaryGuards]).prefault({}),
})

/** The gate of canaries on traffic, as a configuration declares it: its guards are the metrics of sessions. */
export const TrafficCanaryConfig = Declared.superRefine((declared, context) => {
  const { error } = CanaryConfig.safeParse(canaryConfigFrom(declared, null, []))
  for (const { path, message } of error?.issues ?? []) context.addIssue({ code: 'custom', path, message })
})
export type TrafficCanaryConfig = z.infer<typeof Declared>

/**
 * The gate's own configuration: the guards that are on, and how sessions are audited; `null`: they are not.
 * @param trusted keys whose names are people.
 */
export function canaryConfigFrom(
  { guards, assign, ...rest }: TrafficCanaryConfig,
  audit: Audit | null,
  trusted: readonly string[],
): CanaryConfig {
  const on = Object.entries(guards === false ? {} : guards).flatMap(([metric, one]) =>
    one === false ? [] : [[metric, one] as const],
  )
  const people = assign === 'person' ? { trusted: trusted.toSorted() } : null
  return { ...rest, guards: Object.fromEntries(on), audit, people, cautions: 'reward-and-truth' }
}
