import type { Canary, Repositories } from '../../core/index.ts'
import { type CameIn, servingSince } from '../came-in.ts'

/** A canary of which something serves that its promotion brought. */
export interface PromotedCanary {
  readonly canary: Canary
  /** The Parameters whose Version still serves. */
  readonly serves: readonly [CameIn, ...CameIn[]]
}

/** Canaries that are looked through, at most: the newest. */
const mostCanaries = 500

/**
 * The canaries that what serves an agent came from, Parameter by Parameter, the latest promotion first. One whose every
 * Parameter serves otherwise since is none of them, nor one that somebody took up again by hand: that one has decided.
 */
export async function promotedCanaries(
  { canaries, releases }: Pick<Repositories, 'canaries' | 'releases'>,
  agent: string,
): Promise<readonly PromotedCanary[]> {
  const serving = await servingSince({ releases }, agent)
  const promoted = serving?.parameters.filter(({ how }) => how === 'promote') ?? []
  if (promoted.length === 0) return []
  const known = await canaries.list({ agent, limit: mostCanaries })
  const found = known.flatMap((canary) => {
    const [first, ...others] = promoted.filter((one) => isOf(one, canary))
    return first ? [{ canary, serves: [first, ...others] as const }] : []
  })
  return found.toSorted((a, b) => b.serves[0].generation - a.serves[0].generation)
}

/** Whether a canary's promotion brought it: a receipt promotes once. */
export function isOf({ how, release }: CameIn, { status, receipt }: Pick<Canary, 'status' | 'receipt'>): boolean {
  return how === 'promote' && status === 'promoted' && receipt !== null && release.receipt === receipt
}
