import { z } from 'zod'
import { rng } from '../../../core/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { names, projectionShape, projections } from '../transformer/weights.ts'

/** The matrices that may carry an adapter: a block's projections, and the output head. */
export const LoraTarget = z.enum([...projections, 'lm_head'])
export type LoraTarget = z.infer<typeof LoraTarget>

/**
 * LoRA (Hu et al. 2021): y = x·Wᵀ + (alpha / rank) · x·Aᵀ·Bᵀ with A `[rank, in]` and B `[out, rank]`; W stays frozen.
 * `targets` names which matrices of every block carry a pair.
 */
export const LoraConfig = z.strictObject({
  rank: z.int().positive(),
  alpha: z.number().positive(),
  targets: z.array(LoraTarget).min(1).readonly(),
})
export type LoraConfig = z.infer<typeof LoraConfig>

/** An adapter's values: a LoRA configuration and its tensors by name ({@link loraShapes}), float32, row-major. */
export interface AdapterWeights extends LoraConfig {
  readonly tensors: ReadonlyMap<string, Float32Array>
}

/** The pair of one adapted matrix: tensor names as peft writes them, and shapes. */
export interface LoraPair {
  readonly a: string
  readonly b: string
  readonly shapeA: readonly [rank: number, input: number]
  readonly shapeB: readonly [output: number, rank: number]
}

/** The pair that adapts the matrix called `weight`, of shape `[out, in]`. */
export function loraPair(weight: string, [output, input]: readonly [number, number], rank: number): LoraPair {
  const module = weight.replace(/\.weight$/, '')
  return {
    a: `${module}.lora_A.weight`,
    b: `${module}.lora_B.weight`,
    shapeA: [rank, input],
    shapeB: [output, rank],
  }
}

/** Every pair of an adapter, blocks in order, then the head. */
export function loraPairs(
  config: TransformerConfig,
  { rank, targets }: Pick<LoraConfig, 'rank' | 'targets'>,
): LoraPair[] {
  const pairs: LoraPair[] = []
  for (let layer = 0; layer < config.layers; layer++) {
    for (const projection of projections) {
      if (!targets.includes(projection)) continue
      pairs.push(loraPair(names.projection(layer, projection), projectionShape(config, projection), rank))
    }
  }
  if (targets.includes('lm_head')) pairs.push(loraPair(names.head, [config.vocabSize, config.hiddenSize], rank))
  return pairs
}

/** Every tensor of an adapter by name with its shape, in a fixed order. */
export function loraShapes(
  config: TransformerConfig,
  lora: Pick<LoraConfig, 'rank' | 'targets'>,
): Map<string, readonly number[]> {
  return new Map(
    loraPairs(config, lora).flatMap(({ a, b, shapeA, shapeB }) => [[a, shapeA] as const, [b, shapeB] as const]),
  )
}

/**
 * A fresh adapter that changes nothing yet: A uniform in ±1/√in (Kaiming uniform with a = √5, as peft does), B zero.
 */
export function initialAdapter(config: TransformerConfig, lora: LoraConfig, seed: number): AdapterWeights {
  const tensors = new Map<string, Float32Array>()
  for (const pair of loraPairs(config, lora))
    for (const [name, values] of initialPair(pair, seed)) tensors.set(name, values)
  return { ...lora, tensors }
}

/** The first values of one pair, A and then B, by name. */
export function initialPair({ a, b, shapeA, shapeB }: LoraPair, seed: number): (readonly [string, Float32Array])[] {
  const bound = 1 / Math.sqrt(shapeA[1])
  const random = rng('lora', seed, a)
  const uniform = () => (2 * random.next() - 1) * bound
  return [
    [a, Float32Array.from({ length: shapeA[0] * shapeA[1] }, uniform)],
    [b, new Float32Array(shapeB[0] * shapeB[1])],
  ]
}

/** A LoRA configuration in words; equal text means an equal configuration. */
export function describeLora({ rank, alpha, targets }: LoraConfig): string {
  return `LoRA of rank ${rank}, alpha ${alpha} on ${LoraTarget.options.filter((target) => targets.includes(target)).join(', ')}`
}
