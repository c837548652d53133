import { rng } from '../core/index.ts'
import { supervisedPass } from '../optimize/weights/index.ts'
import type { LearningRun } from './learning-run.ts'
import type { LearnOptions } from './options.ts'

/**
 * Imitates the demonstrations for a few passes, so that the policy acts in the right form at all and rewards begin to
 * differ. Ends by keeping the primed adapter.
 */
export async function prime(run: LearningRun): Promise<void> {
  if (run.options.prime) await imitate(run, run.options.prime)
  await run.keep('primed')
  run.state = { ...run.state, phase: 'improve' }
  await run.checkpoint()
}

async function imitate(
  run: LearningRun,
  { demonstrations, supervised }: NonNullable<LearnOptions['prime']>,
): Promise<void> {
  const { seed = 0, signal } = run.options
  const { primePasses } = run.schedule
  const began = run.clock.now()
  const before = run.state.learningSeconds
  while (run.state.passes < primePasses) {
    signal?.throwIfAborted()
    const pass = run.state.passes + 1
    const metrics = await supervisedPass(run.trainer, demonstrations, rng('prime', seed, pass), supervised)
    run.state = {
      ...run.state,
      passes: pass,
      tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
      learningSeconds: before + (run.clock.now() - began) / 1000,
    }
    run.emit({ type: 'primed', pass, passes: primePasses, metrics, seconds: run.state.learningSeconds })
    await run.checkpoint()
  }
}
