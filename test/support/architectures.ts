import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { readTransformerConfig } from '../../src/model/embedded/load/architecture/read-config.ts'
import { weightShapes } from '../../src/model/embedded/transformer/weights.ts'
import type { TransformerConfig } from '../../src/model/embedded/transformer/config.ts'
import { numbers } from './recorded.ts'

const Trained = z.object({ loss: z.number(), gradients: z.record(z.string(), z.string()) })
const Vectors = z.object({
  sequences: z.array(z.array(z.int())),
  rank: z.int(),
  alpha: z.number(),
  cases: z.record(
    z.string(),
    z.object({
      config: z.unknown(),
      logits: z.array(z.string()),
      full: Trained,
      lora: Trained.extend({ logits: z.array(z.string()) }),
    }),
  ),
})

/** What scripts/vectors/architectures.py recorded. */
export const architectures = Vectors.parse(
  JSON.parse(readFileSync(new URL('../../src/model/embedded/vectors/architectures.json', import.meta.url), 'utf8'))
    .vectors,
)

export interface RecordedArchitecture {
  readonly name: string
  /** As transformers saves it. */
  readonly configJson: unknown
  readonly config: TransformerConfig
  readonly tensors: ReadonlyMap<string, Float32Array>
  readonly recorded: z.infer<typeof Vectors>['cases'][string]
}

/** The models that were recorded, with the weights that both sides derive. */
export const recordedArchitectures: readonly RecordedArchitecture[] = Object.entries(architectures.cases).map(
  ([name, recorded]) => {
    const config = readTransformerConfig(recorded.config)
    const values = filled(weightShapes(config), 1000)
    const aroundOne = (tensor: string) => tensor.endsWith('norm.weight') && config.normOffset === undefined
    const tensors = [...values].map(
      ([tensor, array]) => [tensor, aroundOne(tensor) ? array.map((value) => value + 1) : array] as const,
    )
    return { name, configJson: recorded.config, config, tensors: new Map(tensors), recorded }
  },
)

/** Every tensor from its place among the sorted names. */
export function filled(shapes: ReadonlyMap<string, readonly number[]>, seed: number): Map<string, Float32Array> {
  const sorted = [...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return new Map(
    sorted.map(([name, shape], index) => {
      const size = shape.reduce((product, dimension) => product * dimension, 1)
      return [name, numbers(seed + index, size, 0.4)]
    }),
  )
}
