import { z } from 'zod'
import type { Canary, Repositories } from '../core/index.ts'
import type { Gap } from './judge-session.ts'

/** When nobody looked, as its story tells, and now if that is not told yet. */
export async function gapsOf(
  { canaries }: Pick<Repositories, 'canaries'>,
  { id }: Pick<Canary, 'id'>,
  latest: Gap,
): Promise<readonly Gap[]> {
  const story = await canaries.events(id)
  const told = story.flatMap(({ type, evidence }) => {
    const gap = type === 'unwatched' ? GapEvidence.safeParse(evidence) : null
    return gap?.data ? [gap.data] : []
  })
  return latest.from < latest.until ? [...told, latest] : told
}

const GapEvidence = z.object({ from: z.number(), until: z.number() })
