import type { Datum, Demonstration, PolicySample } from '../../core/index.ts'
import { demonstrationDatum } from '../../optimize/weights/index.ts'
import { replayable } from './collect.ts'
import type { Rehearsal } from './learned-from.ts'
import { materialIn, materialOf } from './material.ts'
import type { TrafficRun } from './traffic-run.ts'

/** So many trajectories of earlier runs are read, at least: few make a poor mix. */
const least = 64

/** What this run may learn again; of its samples only those that were drawn at the batch's temperature. */
export async function rehearsalOf(run: TrafficRun): Promise<Rehearsal> {
  const { replay, anchor, anchorSequences } = run.schedule
  if (replay === 0 && anchor === 0) return { samples: [], demonstrations: [] }
  if (run.rehearsal) return run.rehearsal
  const { gradients, temperature } = await materialOf(run)
  const fresh = gradients.reduce((sum, { samples }) => sum + samples.length, 0)
  const wanted = Math.max(least, Math.ceil((fresh * replay) / (1 - replay)), anchor > 0 ? anchorSequences : 0)
  const samples: PolicySample[] = []
  const demonstrations: Demonstration[] = []
  for (const batch of await replayable(run, wanted)) {
    const material = await materialIn(run, batch)
    demonstrations.push(...material.demonstrations)
    if (temperature === null || material.temperature === temperature) {
      samples.push(...material.gradients.flatMap((gradient) => gradient.samples))
    }
  }
  run.rehearsal = { samples, demonstrations }
  return run.rehearsal
}

/**
 * Holds on to the weights that earlier runs need, before this one moves any: elastic weight consolidation, with the
 * importance measured on what they learned from, at the weights that serve. What is to be kept is what went well: samples
 * with an advantage above 0, and what people showed.
 */
export async function anchor(run: TrafficRun): Promise<void> {
  const { anchor: strength, anchorSequences } = run.schedule
  const { anchoring } = run.trainer
  if (strength > 0 && anchoring) {
    const { samples, demonstrations } = await rehearsalOf(run)
    const good = samples.map(({ tokens, sampled, advantages }) => ({
      tokens,
      learn: sampled.map((own, t) => own && (advantages[t] ?? 0) > 0),
    }))
    const data: readonly Datum[] = [...demonstrations, ...good]
      .filter(({ learn }) => learn.includes(true))
      .slice(0, anchorSequences)
      .map((one) => demonstrationDatum(one, 1))
    if (data.length > 0) {
      await anchoring.hold([await anchoring.importance(data)], strength)
      run.emit({ type: 'anchored', sequences: data.length, strength })
    }
  }
  await run.enter('imitate')
}
