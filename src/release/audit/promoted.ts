import {
  type Activation,
  type Canary,
  type CanaryReceipt,
  isPaired,
  type Release,
  type Repositories,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { releaseOf } from '../release-record.ts'

/** What serves, and the canary that it came from. */
export interface PromotedByCanary {
  readonly activation: Activation
  /** The latest that was none of a declaration: how it came to serve, whatever its owner declared beside it since. */
  readonly cameIn: Activation
  readonly release: Release
  /** That promoted it. */
  readonly receipt: CanaryReceipt
  readonly canary: Canary
}

/** Declarations since a promotion that are looked back over, at most. */
const mostDeclarations = 100

/** What serves an agent, where a canary promoted it; `null` where nothing serves yet, or it came in another way. */
export async function promotedByCanary(
  { canaries, receipts, releases }: Pick<Repositories, 'canaries' | 'receipts' | 'releases'>,
  agent: string,
): Promise<PromotedByCanary | null> {
  const recent = await releases.recent(agent, mostDeclarations)
  const activation = recent[0]
  const cameIn = recent.find(({ reason }) => reason !== 'declared')
  if (!activation || !cameIn) return null
  const release = await releaseOf({ releases }, activation)
  if (release.receipt === null) return null
  const receipt = present(await receipts.get(release.receipt), 'the receipt')
  if (isPaired(receipt)) return null
  const canary = present(await canaries.get(receipt.canary), `canary ${receipt.canary}`)
  return { activation, cameIn, release, receipt, canary }
}
