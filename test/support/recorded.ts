import { readFileSync } from 'node:fs'
import type { TransformerConfig, ModelWeights } from '../../src/model/embedded/transformer/config.ts'
import { weightShapes } from '../../src/model/embedded/transformer/weights.ts'
import { type LoraConfig, LoraTarget, loraPairs } from '../../src/model/embedded/train/lora.ts'

/** Reads vectors that scripts/vectors/record.py recorded from PyTorch. */
export function recorded(
  name:
    | 'llama'
    | 'losses'
    | 'prompt'
    | 'rules'
    | 'adamw'
    | 'anchors'
    | 'preference'
    | 'policies'
    | 'auxiliary'
    | 'memory'
    | 'nearest',
): unknown {
  const file = new URL(`../../src/model/embedded/vectors/${name}.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { vectors: unknown }).vectors
}

/** A recorded float32 tensor. */
export function unpack(base64: string): Float32Array {
  return new Float32Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer)
}

/** Pseudo-random float32 in [−scale, scale), the same as `numbers` in scripts/vectors/llama.py. */
export function numbers(seed: number, length: number, scale = 1): Float32Array {
  let state = seed
  return Float32Array.from({ length }, () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return (state / 2 ** 31 - 1) * scale
  })
}

/** The model that the vectors were recorded from. */
export function recordedModel(config: TransformerConfig): ModelWeights {
  const tensors = [...weightShapes(config)].map(([name, shape], index) => {
    const values = numbers(1000 + index, size(shape), 0.4)
    return [name, shape.length === 1 ? values.map((value) => value + 1) : values] as const
  })
  return { config, tensors: new Map(tensors) }
}

/** The adapter that the vectors were recorded with: every projection and the head. */
export function recordedAdapter(
  config: TransformerConfig,
  rank: number,
  alpha: number,
): LoraConfig & { tensors: Map<string, Float32Array> } {
  const targets = LoraTarget.options
  const tensors = loraPairs(config, { rank, targets }).flatMap(({ a, b, shapeA, shapeB }, index) => [
    [a, numbers(5000 + index, size(shapeA), 0.4)] as const,
    [b, numbers(6000 + index, size(shapeB), 0.4)] as const,
  ])
  return { rank, alpha, targets, tensors: new Map(tensors) }
}

/** The largest difference, relative to the largest expected magnitude. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY
  let difference = 0
  let magnitude = 1e-30
  for (let i = 0; i < expected.length; i++) {
    difference = Math.max(difference, Math.abs((actual[i] as number) - (expected[i] as number)))
    magnitude = Math.max(magnitude, Math.abs(expected[i] as number))
  }
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference / magnitude
}

function size(shape: readonly number[]): number {
  return shape.reduce((product, dimension) => product * dimension, 1)
}
