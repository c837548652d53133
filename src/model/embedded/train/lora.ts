import { z } from 'zod'
import type { LlamaConfig } from '../llama/config.ts'
import { names, projectionShape, projections } from '../llama/weights.ts'

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
export function loraPairs(config: LlamaConfig, { rank, targets }: Pick<LoraConfig, 'rank' | 'targets'>): LoraPair[] {
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
  config: LlamaConfig,
  lora: Pick<LoraConfig, 'rank' | 'targets'>,
): Map<string, readonly number[]> {
  return new Map(
    loraPairs(config, lora).flatMap(({ a, b, shapeA, shapeB }) => [[a, shapeA] as const, [b, shapeB] as const]),
  )
}
