import type { Datum, Loss } from '../../src/core/index.ts'
import type { ModelWeights } from '../../src/model/embedded/transformer/config.ts'
import { type Trained, trainedShapes } from '../../src/model/embedded/transformer/trained.ts'
import type { AdapterContent } from '../../src/model/embedded/train/adapter-content.ts'
import { EmbeddedTrainer } from '../../src/model/embedded/train/embedded-trainer.ts'
import { initialValues } from '../../src/model/embedded/train/initial-values.ts'
import { FlatTensors } from '../../src/model/embedded/train/flat-tensors.ts'
import { TrainingShard } from '../../src/model/embedded/train/training-shard.ts'

export interface InProcessOptions {
  readonly model: ModelWeights
  readonly trained: Trained
  readonly values?: Float32Array
  readonly shards?: number
  readonly budget?: number
  readonly share?: boolean
}

/** An {@link EmbeddedTrainer} whose shards live in this thread, with what tests look at. */
export function inProcessTrainer({ model, trained, values, shards: count = 1, ...packing }: InProcessOptions) {
  const start = values ?? initialValues(model, trained, { seed: 1 })
  const shards = Array.from({ length: count }, () => new TrainingShard({ model, trained, values: start.slice() }))
  const published: AdapterContent[] = []
  const publish = async (content: AdapterContent) => {
    published.push(content)
    return { kind: 'adapter' as const, id: String(published.length) }
  }
  const trainer = new EmbeddedTrainer({ config: model.config, trained, shards, publish, ...packing })
  return { trainer, shards, published }
}

/** The gradient, by tensor, of one loss over data, summed over shards. */
export async function gradientOf(options: InProcessOptions, data: readonly Datum[], loss: Loss) {
  const { trainer, shards } = inProcessTrainer(options)
  const result = await trainer.forwardBackward(data, loss)
  const sum = new FlatTensors(trainedShapes(options.model.config, options.trained))
  for (const shard of shards) {
    const gradient = await shard.takeGradient()
    gradient?.forEach((value, i) => {
      sum.values[i] = sum.values[i]! + value
    })
    await shard.close()
  }
  return { result, gradient: sum }
}
