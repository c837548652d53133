import { clipped, type Deed, memoryBounds, newItem } from '../../agent/index.ts'
import { abstracted } from './abstracted.ts'
import { lineageOf } from './lineage.ts'
import { expiryOf, type MemoryPart, type Outcome, type PartContext, stateless } from './part.ts'
import { addressesTheModel, fromTools, trustIn } from './trust.ts'

/** How exemplars are kept. */
export interface ExemplarOptions {
  /** Steps that an episode must have had, at least. Default 2: one step is a case. */
  readonly steps?: number
  /** Cosine from which two abstracted cues ask the same; of these, one is kept. Default 0.9. */
  readonly alike?: number
}

/**
 * Whole episodes that worked, step by step and without their particulars, for others of their sort (Synapse, Zheng et al.
 * 2024: state abstraction, trajectories as exemplars, an exemplar memory). Of those that answer the same the shortest is
 * kept. What tools answered stands in them, so that they are trusted no more than that.
 */
export const caseExemplars = ({ steps = 2, alike = 0.9 }: ExemplarOptions = {}): MemoryPart =>
  stateless('exemplars', async (context) => {
    const counts = { exemplars: 0, exemplarsScreened: 0 }
    for (const outcome of context.outcomes) {
      const { deeds } = outcome.experience
      if (outcome.example !== 'worked' || deeds.length < steps) continue
      const text = told(deeds)
      if (addressesTheModel(`${outcome.experience.cue}\n${text}`)) counts.exemplarsScreened++
      else if (await keep(outcome, text, context, alike)) counts.exemplars++
    }
    return counts
  })

const told = (deeds: readonly Deed[]): string =>
  clipped(
    deeds
      .map(
        ({ seen, did }, i) => `${i + 1}. ${seen === '' ? '' : `saw: ${abstracted(seen)}\n   `}did: ${abstracted(did)}`,
      )
      .join('\n'),
    memoryBounds.textBytes,
  )

/** @returns whether it is kept: nothing shorter that is trusted as much answers the same. */
async function keep(
  { experience, signal }: Outcome,
  text: string,
  context: PartContext,
  alike: number,
): Promise<boolean> {
  const lineage = lineageOf(experience, context)
  const cue = abstracted(experience.cue)
  if (lineage === null || cue === '') return false
  const { collection } = context
  const trust = trustIn(`${experience.cue}\n${text}`, Math.min(lineage.trust, fromTools))
  const from = experience.at
  const item = newItem({
    ...lineage,
    trust,
    type: 'exemplar',
    cue,
    text,
    worked: true,
    from,
    expires: expiryOf(from, context),
    utility: signal,
  })
  if (collection.knows(item, context.at)) return false
  const near = await collection.alike(item, alike)
  const same = near.filter(({ expires }) => expires === null || expires > context.at)
  if (same.some((other) => other.rent.tokens <= item.rent.tokens && other.trust >= trust && other.utility > 0))
    return false
  // What is trusted less takes no place of what is trusted more.
  for (const other of same) if (other.trust <= trust) collection.drop(other)
  await collection.put(collection.revived(item))
  return true
}
