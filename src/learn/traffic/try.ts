import { type Canary, type CanaryId, isPaired } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import {
  CanaryEndedError,
  CanaryRunningError,
  NothingToTryError,
  percentOf,
  PinnedError,
  ServingChangedError,
  StaleReceiptError,
} from '../../release/index.ts'
import { RunningCanaryError } from '../../store/index.ts'
import type { TrafficOutcome } from './events.ts'
import { servingSet } from './judge.ts'
import { ownCanary } from './own-canary.ts'
import type { TrafficRun } from './traffic-run.ts'

/** Lets a share of the sessions get the candidate, unless it is only to be looked at. */
export async function tryOut(run: TrafficRun): Promise<void> {
  const { mode, canary: rules } = run.options
  if (mode === 'shadow' || !rules) {
    return run.enter('done', { outcome: 'shadow', reason: 'The candidate is kept, and nobody gets it.' })
  }
  const earlier = await ownCanary(run.options.store, run.run)
  const end = earlier ? triedBy(earlier) : await start(run)
  if (end.canary !== null) run.emit({ type: 'tried', canary: end.canary, share: end.share })
  const { outcome, reason, canary } = end
  await run.enter('done', { outcome, reason, canary })
}

/** What comes of a run: its canary, or why there is none. */
type Tried = { readonly outcome: TrafficOutcome; readonly reason: string } & (
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

async function start(run: TrafficRun): Promise<Tried> {
  const { store, canary: gate, mayWrite } = run.options
  const { release } = await run.registry.current(run.key)
  const expected = servingSet(run)
  const parameters = Object.keys({ ...expected, ...release.versions })
  if (parameters.some((name) => expected[name] !== release.versions[name])) {
    return superseded(`Release ${release.id} serves instead of what the run began from.`)
  }
  const { receipt: id } = run.state
  const receipt = id === null ? null : await store.receipts.get(id)
  const admission = receipt && isPaired(receipt) ? receipt : null
  try {
    const canary = await run.registry.startCanary({
      agent: run.key,
      versions: [run.candidate],
      admission,
      run: run.run.id,
      gate: present(gate, 'the rules of the canary'),
      at: run.clock.now(),
      ...(mayWrite ? { mayWrite } : {}),
    })
    return triedBy(canary)
  } catch (error) {
    if (error instanceof NothingToTryError) {
      return { outcome: 'nothing-to-learn', reason: error.message, canary: null }
    }
    for (const kind of overtaken) if (error instanceof kind) return superseded(error.message)
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
  StaleReceiptError,
]

const superseded = (reason: string): Tried => ({ outcome: 'superseded', reason, canary: null })
