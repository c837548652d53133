import type { Trainer } from '../../src/core/index.ts'
import type { TransformerConfig } from '../../src/model/embedded/index.ts'
import { inProcessTrainer } from './in-process-trainer.ts'
import { recorded, recordedAdapter, recordedModel } from './recorded.ts'

/** The model and the adapter that gradients were recorded from. */
export function recordedStart(rank: number, alpha: number) {
  const { config } = recorded('losses') as { config: TransformerConfig }
  const { tensors, ...lora } = recordedAdapter(config, rank, alpha)
  return {
    model: recordedModel(config),
    trained: { kind: 'lora', ...lora } as const,
    /** Of the adapter, in the order of a gradient's tensors. */
    names: [...tensors.keys()],
    values: Float32Array.from([...tensors.values()].flatMap((tensor) => [...tensor])),
  }
}

/** A trainer whose optimizer steps are looked at and not taken: the gradient of each is kept. */
export function watchedTrainer({ model, trained, values }: Omit<ReturnType<typeof recordedStart>, 'names'>) {
  const { trainer, shards } = inProcessTrainer({ model, trained, values: values.slice() })
  const gradients: Float32Array[] = []
  const optimStep = async () => {
    const gradient = await shards[0]?.takeGradient()
    if (gradient) gradients.push(gradient)
    return { gradNorm: 1, anchorPenalty: 0, step: gradients.length }
  }
  const watching = new Proxy<Trainer>(trainer, {
    get(target, name) {
      if (name === 'optimStep') return optimStep
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  return { trainer: watching, gradients }
}
