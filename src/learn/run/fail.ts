import { RatchetError } from '../../errors/index.ts'
import { LostLeaseError } from '../errors.ts'
import type { LearnRun } from './learn-run.ts'

/** Writes down why a run ended early; its checkpoint stays. One that another process has taken over is the other's to write. */
export async function fail(run: LearnRun, error: unknown): Promise<void> {
  const { signal, store, mayWrite } = run.options
  if (error instanceof LostLeaseError || signal?.reason instanceof LostLeaseError) return
  const interrupted = signal?.aborted === true
  const failure = RatchetError.is(error)
    ? { code: error.code, message: error.message, hint: error.hint }
    : { code: 'unknown', message: error instanceof Error ? error.message : String(error) }
  const written = store.transaction(async (tx) => {
    await mayWrite?.(tx)
    await tx.runs.update(run.run.id, {
      status: interrupted ? 'interrupted' : 'failed',
      failure: interrupted ? null : failure,
      release: run.state.release,
      endedAt: run.clock.now(),
    })
  })
  // Where the store itself fails, the first error is the one to tell; the run stays `running`, and can be resumed.
  await written.catch(() => {})
}
