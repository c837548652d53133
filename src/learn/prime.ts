import { rng } from '../core/index.ts'
import { supervisedPass } from '../optimize/weights/index.ts'
import type { LearningRun } from './learning-run.ts'

/**
 * Imitates the demonstrations for a few passes, so that the policy acts in the right form at all and rewards begin to
 * differ. Ends by keeping the primed adapter.
 */
export async function prime(run: LearningRun): Promise<void> {
  const { prime: priming, seed = 0, signal } = run.options
  const { primePasses } = run.schedule
  const began = run.clock.now()
  const before = run.state.learningSeconds
  while (priming && run.state.passes < primePasses) {
    signal?.throwIfAborted()
    const pass = run.state.passes + 1
    const metrics = await supervisedPass(
      run.trainer,
      priming.demonstrations,
      rng('prime', seed, pass),
      priming.supervised,
    )
    run.state = {
      ...run.state,
      passes: pass,
      tokensTrained: run.state.tokensTrained + (metrics.tokens ?? 0),
      learningSeconds: before + (run.clock.now() - began) / 1000,
    }
    run.emit({ type: 'primed', pass, passes: primePasses, metrics, seconds: run.state.learningSeconds })
    await run.checkpoint()
  }
  await run.keep('primed')
  run.state = { ...run.state, phase: 'improve' }
  await run.checkpoint()
}
