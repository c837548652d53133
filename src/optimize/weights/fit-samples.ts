import type { ParameterName, PolicySample, VersionId } from '../../core/index.ts'
import { OptimizeError } from './errors.ts'

/**
 * The one temperature that all samples were drawn at; `null` without samples.
 * @throws OptimizeError for samples whose behaviour probabilities a trainer cannot reproduce (invariant 2).
 */
export function reproducibleTemperature(samples: readonly PolicySample[]): number | null {
  const [first] = samples
  if (!first) return null
  for (const { temperature, truncated } of samples) {
    if (truncated || temperature === 0) {
      throw new OptimizeError({
        code: 'optimize/truncated-samples',
        message: `Policy gradient got samples drawn ${truncated ? 'with top-k, top-p, a grammar or a datastore' : 'greedily (temperature 0)'}.`,
        hint: 'Sample rollouts for learning at a temperature above 0, without top-k, top-p, grammars and datastores.',
      })
    }
    if (temperature !== first.temperature) {
      throw new OptimizeError({
        code: 'optimize/mixed-temperatures',
        message: `One batch holds samples drawn at temperatures ${first.temperature} and ${temperature}.`,
        hint: 'Draw all rollouts of a batch at one temperature.',
      })
    }
  }
  return first.temperature
}

/**
 * Ratios correct for what the weights themselves were; for another prompt, or other memories, nothing does.
 * @throws OptimizeError where several Versions of something else acted (invariant 4).
 */
export function refuseMixedContext(own: ParameterName, samples: readonly PolicySample[]): void {
  const beside = new Map<ParameterName, VersionId>()
  for (const [name, versions] of samples.flatMap(({ acted = {} }) => Object.entries(acted))) {
    if (name === own) continue
    for (const version of versions) {
      const known = beside.get(name) ?? version
      if (known === version) beside.set(name, version)
      else {
        throw new OptimizeError({
          code: 'optimize/mixed-context',
          message: `Several Versions of "${name}" acted in one batch: ${known} and ${version}.`,
          hint: 'Split the batch by the Versions of what acted beside the weights.',
        })
      }
    }
  }
}
