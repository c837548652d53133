import type { Agent } from '../../agent/index.ts'
import { present, RatchetError } from '../../errors/index.ts'
import { LostLeaseError } from '../errors.ts'
import { collect } from './collect.ts'
import { TrafficSummary } from './events.ts'
import { judge } from './judge.ts'
import { openTrafficRun } from './open.ts'
import type { TrafficLearnOptions } from './options.ts'
import { imitate, prefer } from './imitate.ts'
import { practise } from './practise.ts'
import { anchor } from './rehearsal.ts'
import type { TrafficRun } from './traffic-run.ts'
import { tryOut } from './try.ts'

/**
 * The loop over an agent's own traffic, once around: gather → (anchor) → practise → imitate → prefer → judge → try out.
 *
 * Every phase ends in a checkpoint, so that a run that was killed anywhere goes on with `resume`; one that has completed
 * only tells its summary again. What a trajectory teaches is learned by one run only: the run that gathered it keeps it
 * beside its checkpoints, and later runs leave it out, except to rehearse.
 * @throws LearnError for a configuration that cannot work; errors of the store and the model pass through.
 */
export async function learnFromTraffic(agent: Agent, options: TrafficLearnOptions): Promise<TrafficSummary> {
  const summary = await summaryOfCompleted(options)
  if (summary) return summary
  const run = await openTrafficRun(agent, options)
  try {
    for (;;) {
      run.pause()
      if (run.state.phase === 'done') return await finish(run)
      await phases[run.state.phase](run)
    }
  } catch (error) {
    await fail(run, error)
    throw error
  } finally {
    await run.trainer.close()
  }
}

const phases = {
  gather: collect,
  anchor,
  practise,
  imitate,
  prefer,
  judge,
  serve: tryOut,
} satisfies Record<Exclude<TrafficRun['state']['phase'], 'done'>, (run: TrafficRun) => Promise<void>>

/** How the run to resume ended; `null` when it did not. */
async function summaryOfCompleted({ store, resume }: TrafficLearnOptions): Promise<TrafficSummary | null> {
  const run = resume === undefined ? null : await store.runs.get(resume)
  if (run?.status !== 'completed') return null
  const finished = (await store.runs.events(run.id)).findLast(({ type }) => type === 'finished')
  return TrafficSummary.parse(present(finished, `the end of run ${run.id}`).data['summary'])
}

async function finish(run: TrafficRun): Promise<TrafficSummary> {
  const { state } = run
  const candidate = run.blobs['candidate'] === undefined ? null : run.candidate
  const summary: TrafficSummary = {
    runId: run.run.id,
    agent: run.key,
    outcome: present(state.outcome, 'what became of the run'),
    reason: state.reason,
    evidence: run.options.source.evaluation === null ? 'canary-only' : 'held-out',
    learned: present(state.report, 'what was gathered'),
    replayed: state.replayed,
    passes: { demonstrations: state.passes, preferences: state.preferences, epochs: state.epochs },
    divergence: state.divergence,
    candidate: candidate?.id ?? null,
    decision: state.decision,
    receipt: state.receipt,
    canary: state.canary,
    seconds: run.seconds,
    tokensTrained: state.tokensTrained,
  }
  run.emit({ type: 'finished', summary })
  const versionsOut = candidate && { ...run.run.versionsIn, [run.parameter]: candidate.id }
  await run.checkpoint((tx) =>
    tx.runs.update(run.run.id, {
      status: 'completed',
      versionsOut,
      receipt: state.receipt,
      endedAt: run.clock.now(),
    }),
  )
  return summary
}

/** Writes down why a run ended early. One that another process has taken over is the other's to write. */
async function fail(run: TrafficRun, error: unknown): Promise<void> {
  const { signal, store } = run.options
  if (error instanceof LostLeaseError || signal?.reason instanceof LostLeaseError) return
  const interrupted = signal?.aborted === true
  const message = error instanceof Error ? error.message : String(error)
  const code = RatchetError.is(error) ? error.code : 'unknown'
  const written = store.transaction(async (tx) => {
    await run.options.mayWrite?.(tx)
    await tx.runs.update(run.run.id, {
      status: interrupted ? 'interrupted' : 'failed',
      failure: interrupted ? null : { code, message },
      endedAt: run.clock.now(),
    })
  })
  // Where the store itself fails, the first error is the one to tell; the run stays `running`, and can be resumed.
  await written.catch(() => {})
}
