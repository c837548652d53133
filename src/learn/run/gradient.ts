import { type Metrics, type ParameterName, type PolicySample, sha256 } from '../../core/index.ts'
import { LearnError } from '../errors.ts'
import type { LearnEvent, OfWeights } from '../events.ts'

/** Weights, and who is told of what they learn from. */
interface Heard {
  readonly parameter: ParameterName
  readonly named: OfWeights
}

/**
 * Tells of steps of policy gradient that were not taken, as their samples had no signal.
 * @throws LearnError (`learn/no-gradient`) where there was signal, steps were taken, and no gradient came of it.
 */
export function heedPractice(
  { parameter, named }: Heard,
  samples: readonly PolicySample[],
  metrics: Metrics,
  emit: (event: LearnEvent) => void,
): void {
  const { silentSteps = 0, clippedShare = 0, strippedClippedShare = 0 } = metrics
  if (silentSteps > 0) emit({ type: 'silent', ...named, steps: silentSteps })
  // What is clipped has no gradient. Samples are read where there was none: they can be long.
  const mayPull = metrics.gradNorm === 0 && clippedShare === 0 && strippedClippedShare === 0
  if (mayPull && pullsSomewhere(samples)) refuseNoGradient(parameter, metrics)
}

/**
 * Holds that steps on data that have a gradient had one, where the trainer tells it.
 * @throws LearnError (`learn/no-gradient`)
 */
export function refuseNoGradient(parameter: ParameterName, { steps = 0, gradNorm }: Metrics): void {
  if (steps === 0 || gradNorm !== 0) return
  throw new LearnError({
    code: 'learn/no-gradient',
    message: `No gradient reached what is trained as "${parameter}": its norm was 0 in ${steps === 1 ? 'a step' : `${steps} steps`} on samples that have one.`,
    hint: 'The trainer is broken, or what it trains is no part of what it computes: see that its adapter is attached, and that its loss is of the tokens with weights or advantages.',
  })
}

/** Whether advantages do not cancel: of samples that are alike, what one pulls another may push. */
function pullsSomewhere(samples: readonly PolicySample[]): boolean {
  const pulls = new Map<string, number>()
  for (const { tokens, advantages, sampled } of samples) {
    for (const [t, advantage] of advantages.entries()) {
      if (advantage === 0 || !sampled[t]) continue
      const key = sha256(tokens.slice(0, t + 1).join())
      pulls.set(key, (pulls.get(key) ?? 0) + advantage)
    }
  }
  return [...pulls.values()].some((pull) => Math.abs(pull) > 1e-6)
}
