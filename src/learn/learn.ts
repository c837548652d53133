import type { Agent } from '../agent/index.ts'
import type { PairedReceipt } from '../core/index.ts'
import { present, RatchetError } from '../errors/index.ts'
import { checkJob } from './check-job.ts'
import { trainControl } from './control.ts'
import { LearnSummary } from './events.ts'
import { improve } from './improve.ts'
import { judge } from './judge.ts'
import type { LearningRun } from './learning-run.ts'
import { assertHoldoutLeft, measureArms, type TestResults } from './measure.ts'
import { methodOf, openRun } from './open-run.ts'
import type { LearnOptions } from './options.ts'
import { prime } from './prime.ts'
import { completed } from './recipe.ts'
import type { TrafficSummary } from './traffic/events.ts'
import { learnFromTraffic } from './traffic/learn-from-traffic.ts'
import type { TrafficLearnOptions } from './traffic/options.ts'

/**
 * The loop, once around: prime → (rollout → credit → backward → step)* → measure → gate → release.
 *
 * Every phase ends in a checkpoint, so that a run that was killed anywhere goes on with `resume`; one that has completed
 * only tells its summary again.
 * @throws LearnError for a configuration that cannot work; errors of the store and the model pass through.
 */
export async function learn(agent: Agent, options: LearnOptions): Promise<LearnSummary>
/** The loop over an agent's own traffic, once around: see {@link learnFromTraffic}. */
export async function learn(agent: Agent, options: TrafficLearnOptions): Promise<TrafficSummary>
export async function learn(
  agent: Agent,
  options: LearnOptions | TrafficLearnOptions,
): Promise<LearnSummary | TrafficSummary> {
  return fromTraffic(options) ? learnFromTraffic(agent, options) : practise(agent, options)
}

const fromTraffic = (options: LearnOptions | TrafficLearnOptions): options is TrafficLearnOptions => 'mode' in options

async function practise(agent: Agent, given: LearnOptions): Promise<LearnSummary> {
  const options = completed(agent, given)
  const summary = await summaryOfCompleted(options)
  if (summary) return summary
  const run = await openRun(agent, options)
  try {
    await assertHoldoutLeft(run)
    if (options.check !== false && isNew(run)) await checkJob(run)
    if (run.state.phase === 'prime') await prime(run)
    if (run.state.phase === 'improve') await improve(run)
    if (options.control) await trainControl(run, methodOf(agent, options))
    const results = await measureArms(run)
    const receipt = await judge(run, results)
    return await finish(run, results, receipt)
  } catch (error) {
    await fail(run, error)
    throw error
  } finally {
    await run.trainer.close()
  }
}

const isNew = ({ state: { phase, passes } }: LearningRun) => phase === 'prime' && passes === 0

/** How the run to resume ended; `null` when it did not. */
async function summaryOfCompleted({ store, resume }: LearnOptions): Promise<LearnSummary | null> {
  const run = resume === undefined ? null : await store.runs.get(resume)
  if (run?.status !== 'completed') return null
  const finished = (await store.runs.events(run.id)).findLast(({ type }) => type === 'finished')
  return LearnSummary.parse(present(finished, `the end of run ${run.id}`).data['summary'])
}

/** Releases what the gate promoted, and closes the run. */
async function finish(run: LearningRun, results: TestResults, receipt: PairedReceipt): Promise<LearnSummary> {
  const candidate = run.version('best')
  const release =
    receipt.decision === 'promote'
      ? await run.registry.promote({ receipt, versions: [candidate], run: run.run.id, at: run.clock.now() })
      : null
  if (release) run.emit({ type: 'released', release: release.id })

  const { tokensSampled, tokensTrained } = run.state
  const summary: LearnSummary = {
    runId: run.run.id,
    ...results.rates,
    decision: receipt.decision,
    releaseId: release?.id ?? null,
    seconds: run.seconds,
    tokensSampled,
    tokensTrained,
  }
  run.emit({ type: 'finished', summary })
  run.state = { ...run.state, phase: 'done' }
  await run.checkpoint((tx) =>
    tx.runs.update(run.run.id, {
      status: 'completed',
      versionsOut: receipt.candidate,
      receipt: receipt.id,
      release: release?.id ?? null,
      endedAt: run.clock.now(),
    }),
  )
  return summary
}

/** Writes down why a run ended early; the checkpoint stays, so that it can be resumed. */
async function fail(run: LearningRun, error: unknown): Promise<void> {
  const interrupted = run.options.signal?.aborted === true
  const failure = RatchetError.is(error)
    ? { code: error.code, message: error.message, hint: error.hint }
    : { code: 'unknown', message: error instanceof Error ? error.message : String(error) }
  const written = run.options.store.runs.update(run.run.id, {
    status: interrupted ? 'interrupted' : 'failed',
    failure: interrupted ? null : failure,
    endedAt: run.clock.now(),
  })
  // Where the store itself fails, the first error is the one to tell; the run stays `running`, and can be resumed.
  await written.catch(() => {})
}
