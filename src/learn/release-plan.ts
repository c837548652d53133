import type { CanaryRules } from '../release/index.ts'

/**
 * How a candidate comes to serve.
 * - `direct`: everybody gets it, where the gate promotes it on held-out tasks.
 * - `canary`: a share of the sessions gets it first. Where there are held-out tasks, it must do better on them before.
 * - `shadow`: nobody gets it; it is kept with its evidence.
 */
export type ReleasePlan =
  | { readonly kind: 'direct' }
  | { readonly kind: 'canary'; readonly rules: CanaryRules; readonly promotes: 'hand' | 'gate' }
  | { readonly kind: 'shadow' }

/** Everybody gets what the gate promotes on held-out tasks. */
export const direct = (): ReleasePlan => ({ kind: 'direct' })

/** Nobody gets candidates. */
export const shadow = (): ReleasePlan => ({ kind: 'shadow' })

/**
 * A share of the sessions gets a candidate first.
 * @param rules the canary's gate.
 * @param options.promotes who lets it serve everybody: a person, or the canary's gate. Default `hand`.
 */
export const canary = (
  rules: CanaryRules,
  { promotes = 'hand' }: { promotes?: 'hand' | 'gate' } = {},
): ReleasePlan => ({
  kind: 'canary',
  rules,
  promotes,
})
