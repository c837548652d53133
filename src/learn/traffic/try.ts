import { type Canary, isPaired } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { CanaryRunningError, PinnedError, ServingChangedError, StaleReceiptError } from '../../release/index.ts'
import { servingSet } from './judge.ts'
import type { TrafficRun } from './traffic-run.ts'

/** Lets a share of the sessions get the candidate, unless it is only to be looked at. */
export async function tryOut(run: TrafficRun): Promise<void> {
  const { mode, canary: rules } = run.options
  if (mode === 'shadow' || !rules) {
    return run.enter('done', { outcome: 'shadow', reason: 'The candidate is kept, and nobody gets it.' })
  }
  const started = await alreadyStarted(run)
  const canary = started ?? (await start(run))
  if (typeof canary === 'string') return run.enter('done', { outcome: 'superseded', reason: canary })
  const share = canary.shares[0] ?? 0
  run.emit({ type: 'tried', canary: canary.id, share })
  const reason = `${Number((100 * share).toPrecision(3))} % of the sessions get the candidate.`
  await run.enter('done', { outcome: 'canary', canary: canary.id, reason })
}

/** A canary that this run began before it was killed. */
async function alreadyStarted({ options: { store }, key, run }: TrafficRun): Promise<Canary | undefined> {
  const latest = await store.canaries.list({ agent: key, limit: 100 })
  return latest.find((canary) => canary.run === run.id)
}

/** @returns the canary, or why there can be none. */
async function start(run: TrafficRun): Promise<Canary | string> {
  const { store, canary: gate, mayWrite } = run.options
  const { release } = await run.registry.current(run.key)
  const expected = servingSet(run)
  const parameters = Object.keys({ ...expected, ...release.versions })
  if (parameters.some((name) => expected[name] !== release.versions[name])) {
    return `Release ${release.id} serves instead of what the run began from.`
  }
  const { receipt: id } = run.state
  const receipt = id === null ? null : await store.receipts.get(id)
  const admission = receipt && isPaired(receipt) ? receipt : null
  try {
    return await run.registry.startCanary({
      agent: run.key,
      versions: [run.candidate],
      admission,
      run: run.run.id,
      gate: present(gate, 'the rules of the canary'),
      at: run.clock.now(),
      ...(mayWrite ? { mayWrite } : {}),
    })
  } catch (error) {
    for (const kind of [CanaryRunningError, PinnedError, ServingChangedError, StaleReceiptError]) {
      if (error instanceof kind) return error.message
    }
    throw error
  }
}
