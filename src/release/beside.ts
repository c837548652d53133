import type { Activation, Canary, CanaryReceipt, Release, Repositories } from '../core/index.ts'
import { ServingChange } from '../core/index.ts'
import { appendEvent, endCanary, runningCanary } from './canary-record.ts'
import { standingOf } from './patch.ts'
import { differences } from './release-record.ts'

/**
 * What becomes of the canary that runs when something else comes to serve everybody. It goes on, and both of its arms get the
 * new Versions, where they are of Parameters that it does not try: its story says what changed, and when. It ends where a
 * Parameter changed that it tries: what it was made from is gone.
 */
export async function activatedBeside(
  tx: Repositories,
  before: Release,
  { release, generation, at }: Pick<Activation, 'release' | 'generation' | 'at'>,
  after: Release,
): Promise<void> {
  const canary = await runningCanary(tx, after.agent)
  if (!canary) return
  const { stale } = await standingOf(tx, canary, after)
  if (stale.length > 0) return endBeside(tx, canary, after, at, staleReason(after, stale))
  const changed = differences(before.versions, after.versions)
  if (changed.length === 0) return
  const change: ServingChange = {
    at,
    release,
    generation,
    parameters: Object.fromEntries(
      changed.map((parameter) => [
        parameter,
        { from: before.versions[parameter] ?? null, to: after.versions[parameter] ?? null },
      ]),
    ),
  }
  const reasons = [`Release ${release} serves in both arms: another version of ${changed.join(', ')}.`]
  await appendEvent(tx, canary, 'changed', { reasons, evidence: change }, at)
}

/** Why a canary goes back whose own Parameters changed. */
export const staleReason = ({ id }: Pick<Release, 'id'>, stale: readonly string[]): string =>
  `release ${id} serves with another version of ${stale.join(', ')}, which it tries`

/** Ends a canary, as everybody is to get a release. */
export async function endBeside(
  tx: Repositories,
  canary: Canary,
  { id }: Release,
  at: number,
  reason = `release ${id} was made to serve everybody`,
): Promise<void> {
  await endCanary(tx, canary, { status: 'rolled-back', receipt: null, reasons: [reason], exposed: null, at })
}

/** What else came to serve while a canary ran, in both of its arms, as its story tells. */
export async function changesBeside(
  { canaries }: Pick<Repositories, 'canaries'>,
  { id }: Pick<Canary, 'id'>,
): Promise<NonNullable<CanaryReceipt['changes']>> {
  const story = await canaries.events(id)
  return story.flatMap(({ type, evidence }) => (type === 'changed' ? [ServingChange.parse(evidence)] : []))
}
