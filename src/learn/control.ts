import { rng } from '../core/index.ts'
import { supervisedPass } from '../optimize/weights/index.ts'
import { evaluate, firstOfEachTier, successRate } from './evaluate.ts'
import type { LearningRun } from './learning-run.ts'
import { startingTrainer } from './open-run.ts'

/**
 * The control arm: supervised learning alone on the same demonstrations, for as many seconds as the learned arm took,
 * from the same start. Its best validation checkpoint is kept, looks included in its time.
 */
export async function trainControl(
  run: LearningRun,
  method: NonNullable<LearningRun['options']['method']>,
): Promise<void> {
  const { model, source, prime, seed = 0, reward, signal } = run.options
  if (!prime || run.blobs.control) return
  const trainer = await startingTrainer(run.options, method, run.servingVersion)
  const tasks = firstOfEachTier(source.validation, run.schedule.validationTasks)
  const began = run.clock.now()
  const elapsed = () => (run.clock.now() - began) / 1000
  let best = -1
  for (let pass = 1; elapsed() < run.state.learningSeconds; pass++) {
    signal?.throwIfAborted()
    await supervisedPass(trainer, prime.demonstrations, rng('prime', seed, pass), prime.supervised)
    run.emit({ type: 'progress', phase: 'control', done: elapsed(), total: run.state.learningSeconds })
    if (pass % Math.max(1, run.schedule.primePasses) !== 0) continue
    const adapter = await trainer.publish()
    const arm = { adapter, inForce: run.inForce(run.servingVersion.id, pass) }
    const scored = await evaluate(run, 'control', arm, 'validation', tasks, `pass-${pass}`)
    await model.sampler.unload(adapter)
    const success = successRate(scored, reward.ceiling).success ?? 0
    if (success > best) {
      best = success
      await run.keep('control', trainer)
    }
  }
  if (best < 0) await run.keep('control', trainer)
  await run.checkpoint()
}
