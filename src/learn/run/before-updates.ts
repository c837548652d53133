import type { Agent } from '../../agent/index.ts'
import type { LearnEvent } from '../events.ts'
import type { LearnOptions } from '../options.ts'
import { agree } from './agreement.ts'
import { methodOf } from './parameter.ts'
import { refuseOtherServer } from './server-kind.ts'
import type { TrainedWeights } from './trained-weights.ts'

/** A run that trains weights. */
interface Trains {
  readonly agent: Agent
  readonly weights: readonly TrainedWeights[]
  readonly options: LearnOptions
  emit(event: LearnEvent): void
}

/**
 * What is found out before the first update, while nothing has moved: what a trainer will not do is told, and that what serves
 * is what trains. Weights at a server, which leave nothing but paths here, are looked at more closely.
 * @throws LearnError (`learn/served-differs`, `learn/server-kind`); errors of the service pass through.
 */
export async function beforeUpdates(run: Trains): Promise<void> {
  const { agreement: most, seed = 0, signal } = run.options
  for (const one of run.weights) if (one.trainer.capabilities.clipsGradients === false) run.emit(unclipped(one))
  await agree(run)
  for (const { parameter, model, trainer } of run.weights) {
    if (trainer.capabilities.saves === 'bytes') continue
    const method = methodOf(run.agent, run.options, parameter)
    await refuseOtherServer({ parameter, model, method }, { most, seed, signal })
  }
}

const unclipped = ({ parameter, model }: TrainedWeights): LearnEvent => ({
  type: 'found',
  severity: 'warn',
  code: 'learn/unclipped',
  n: 1,
  of: 1,
  example: null,
  message: `The server of "${model.base}" does not clip gradients: gradClipNorm of what trains "${parameter}" does nothing.`,
  hint: 'Take a lower learning rate if training becomes unsteady, or another server.',
})
