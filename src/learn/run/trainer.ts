import {
  asWeights,
  type ModelService,
  savedAt,
  type Trainer,
  type TrainingMethod,
  type Version,
} from '../../core/index.ts'
import type { RunOptions } from '../options.ts'

/** A trainer that stands where learning begins: at the weights of a Version. */
export async function startingTrainer(
  model: ModelService,
  { store, seed = 0 }: Pick<RunOptions, 'store' | 'seed'>,
  method: TrainingMethod,
  start: Version | undefined,
): Promise<Trainer> {
  const trainer = await model.trainer(method, seed)
  const adapter = asWeights(start?.value)?.adapter ?? null
  return unlessFailed(trainer, async () => {
    if (adapter !== null) await trainer.loadWeights(await savedAt(store.blobs, adapter))
    return trainer
  })
}

/** Work that hands on what is open, where something is; where it fails, that is closed. */
export async function unlessFailed<T>(open: Pick<Trainer, 'close'> | null, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await open?.close()
    throw error
  }
}
