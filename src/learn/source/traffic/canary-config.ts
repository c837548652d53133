import { z } from 'zod'
import type { Audit } from '../../../core/index.ts'
import { BoundedGuard, CanaryConfig, type CanaryGuard, RelativeGuard } from '../../../gate/index.ts'
import { defaultGuardRises, defaultGuardTolerances, type GuardMetric } from '../../../reward/index.ts'

/** A metric's guard: `false` switches it off, and what is left out of an object is the metric's default. */
function guard(metric: GuardMetric) {
  const { tolerance, range } = defaultGuardTolerances[metric]
  const { shape } = BoundedGuard
  return z.union([
    z.literal(false),
    z.strictObject({
      tolerance: shape.tolerance.removeDefault().default(tolerance),
      range: shape.range.default([range[0], range[1]]),
    }),
  ])
}

/** The same of a metric that is compared with what serves, unless a tolerance or a range in its own unit is given. */
function rise(metric: keyof typeof defaultGuardRises) {
  const { shape } = BoundedGuard
  return z.union([
    z.literal(false),
    z.strictObject({
      relative: RelativeGuard.shape.relative.default(defaultGuardRises[metric]),
      tolerance: shape.tolerance.unwrap().exactOptional(),
      range: shape.range.exactOptional(),
    }),
  ])
}

/** Guards of a canary, by metric. */
const CanaryGuards = z.strictObject({
  brokenCalls: guard('brokenCalls').prefault({}),
  questionsBack: guard('questionsBack').prefault({}),
  inaction: guard('inaction').prefault({}),
  errors: guard('errors').prefault({}),
  toolErrors: guard('toolErrors').prefault({}),
  askedAgain: guard('askedAgain').prefault({}),
  tokens: guard('tokens').prefault({}),
  seconds: rise('seconds').prefault({}),
  cost: rise('cost').prefault({}),
} satisfies Record<GuardMetric, z.ZodType>)

/** The audit is a section of its own; and new canaries heed all that speaks of harm. */
const { audit: _, cautions: __, people: ___, excess: ____, besideJudge: _____, ...rules } = CanaryConfig.shape

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
    one === false ? [] : [[metric, asDeclared(metric as GuardMetric, one)] as const],
  )
  const people = assign === 'person' ? { trusted: trusted.toSorted() } : null
  const usual = { cautions: 'reward-and-truth', excess: 'either', besideJudge: 'reward' } as const
  return { ...rest, guards: Object.fromEntries(on), audit, people, ...usual }
}

function asDeclared(
  metric: GuardMetric,
  guard: { readonly relative?: number; readonly tolerance?: number; readonly range?: [number, number] },
): CanaryGuard {
  const { tolerance, range, relative } = guard
  if (relative !== undefined && tolerance === undefined && range === undefined) return { relative }
  const usual = defaultGuardTolerances[metric]
  return { tolerance: tolerance ?? usual.tolerance, range: range ?? [usual.range[0], usual.range[1]] }
}
