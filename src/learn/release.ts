import { type Canary, type CanaryId, isPaired, type PairedReceipt } from '../core/index.ts'
import { present } from '../errors/index.ts'
import {
  CanaryEndedError,
  CanaryRunningError,
  NothingToTryError,
  percentOf,
  PinnedError,
  servesOtherwise,
  ServingChangedError,
  SpentReceiptError,
  StaleReceiptError,
} from '../release/index.ts'
import { RunningCanaryError } from '../store/index.ts'
import { ownCanary } from './own-canary.ts'
import type { ReleasePlan } from './release-plan.ts'
import type { LearnRun } from './run/learn-run.ts'
import type { RunOutcome } from './summary.ts'

/** Lets the candidate serve as the run's plan says: everybody, a share of the sessions, or nobody. */
export async function release({ run }: { readonly run: LearnRun }): Promise<void> {
  const { release: plan } = run.options
  switch (plan.kind) {
    case 'shadow':
      return run.enter('done', { outcome: 'shadow', reason: 'The candidate is kept; nobody gets it.' })
    case 'direct':
      return promote(run)
    case 'canary':
      return tryOut(run, plan)
  }
}

/** Everybody gets it. Asked again after `kill -9`, the same receipt makes the same release. */
async function promote(run: LearnRun): Promise<void> {
  const { mayWrite } = run.options
  const receipt = present(await receiptOf(run), 'the receipt of a candidate that is released')
  try {
    const released = await run.registry.promote({
      receipt,
      versions: run.candidates,
      run: run.run.id,
      at: run.clock.now(),
      ...(mayWrite ? { mayWrite } : {}),
    })
    const retired = run.retired && { retired: run.retired.parameter }
    run.emit({ type: 'released', release: released.id, ...retired })
    const reason = retired ? `"${retired.retired}" is retired: it serves as it is declared.` : 'The candidate serves.'
    await run.enter('done', { outcome: 'released', release: released.id, reason })
  } catch (error) {
    if (!wasOvertaken(error)) throw error
    await run.enter('done', superseded(error.message))
  }
}

async function receiptOf({ state, options: { store } }: LearnRun): Promise<PairedReceipt | null> {
  const receipt = state.receipt === null ? null : await store.receipts.get(state.receipt)
  return receipt && isPaired(receipt) ? receipt : null
}

async function tryOut(run: LearnRun, plan: Extract<ReleasePlan, { readonly kind: 'canary' }>): Promise<void> {
  const earlier = await ownCanary(run.options.store, run.run)
  const end = earlier ? triedBy(earlier) : await start(run, plan)
  if (end.canary !== null) run.emit({ type: 'tried', canary: end.canary, share: end.share })
  const { outcome, reason, canary } = end
  await run.enter('done', { outcome, reason, canary })
}

/** What comes of a run: its canary, or why there is none. */
type Tried = { readonly outcome: RunOutcome; readonly reason: string } & (
  | { readonly canary: CanaryId; readonly share: number }
  | { readonly canary: null }
)

/** One that was begun before the run was interrupted may have ended meanwhile. */
function triedBy({ id, shares, status, reason }: Canary): Tried {
  const share = shares[0] ?? 0
  const running = `${percentOf(share)} of the sessions get the candidate.`
  const ended = `The canary of the candidate has ended (${status}): ${reason}`
  return { outcome: 'canary', reason: status === 'running' ? running : ended, canary: id, share }
}

async function start(run: LearnRun, { rules }: Extract<ReleasePlan, { readonly kind: 'canary' }>): Promise<Tried> {
  const { mayWrite } = run.options
  const { release: current } = await run.registry.current(run.key)
  const changed = await servesOtherwise(run.options.store, current, run.servingSet)
  // Other Parameters may have changed meanwhile: both arms have them as they serve.
  if (run.candidates.some(({ parameter }) => changed.includes(parameter))) {
    return superseded(`Release ${current.id} serves instead of what the run began from.`)
  }
  try {
    const canary = await run.registry.startCanary({
      agent: run.key,
      versions: run.candidates,
      admission: await receiptOf(run),
      run: run.run.id,
      gate: rules,
      at: run.clock.now(),
      ...(mayWrite ? { mayWrite } : {}),
    })
    return triedBy(canary)
  } catch (error) {
    if (error instanceof NothingToTryError) {
      return { outcome: 'nothing-to-learn', reason: error.message, canary: null }
    }
    if (wasOvertaken(error)) return superseded(error.message)
    throw error
  }
}

/** What may have come between since the run began. */
const overtaken = [
  CanaryEndedError,
  CanaryRunningError,
  PinnedError,
  RunningCanaryError,
  ServingChangedError,
  SpentReceiptError,
  StaleReceiptError,
]

const wasOvertaken = (error: unknown): error is Error => overtaken.some((kind) => error instanceof kind)

const superseded = (reason: string) => ({ outcome: 'superseded', reason, canary: null }) as const
