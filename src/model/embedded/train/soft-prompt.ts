import { z } from 'zod'
import { type Datum, rng } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import type { ModelWeights, TransformerConfig } from '../transformer/config.ts'
import { names } from '../transformer/weights.ts'

/**
 * Prompt tuning (Lester et al. 2021): `length` vectors stand in front of every sequence, where the embeddings of tokens
 * would stand. They alone learn. Where the model speaks of tokens, they are the ids from `vocabSize` on.
 */
export const SoftPromptConfig = z.strictObject({ length: z.int().positive() })
export type SoftPromptConfig = z.infer<typeof SoftPromptConfig>

/** A soft prompt's values `[length, hiddenSize]`, float32, row-major: what the first block reads at these positions. */
export interface SoftPrompt extends SoftPromptConfig {
  readonly values: Float32Array
}

/** The tensor of a soft prompt, as peft calls it. */
export const promptTensor = 'prompt_embeddings'

/** Its name and shape. */
export const promptShapes = (
  { hiddenSize }: Pick<TransformerConfig, 'hiddenSize'>,
  { length }: SoftPromptConfig,
): Map<string, readonly number[]> => new Map([[promptTensor, [length, hiddenSize]]])

/** The ids of the virtual tokens. */
export const virtualTokens = (
  { vocabSize }: Pick<TransformerConfig, 'vocabSize'>,
  { length }: SoftPromptConfig,
): number[] => Array.from({ length }, (_, i) => vocabSize + i)

/** A datum behind the virtual tokens, which no loss counts. */
export function behindPrompt(virtual: readonly number[], { input, target, ...datum }: Datum): Datum {
  const none = virtual.map(() => 0)
  const { weights = input.map(() => 1), logprobs, advantages, auxiliary } = datum
  return {
    input: [...virtual, ...input],
    target: [...none, ...target],
    weights: [...none, ...weights],
    ...(logprobs && { logprobs: [...none, ...logprobs] }),
    ...(advantages && { advantages: [...none, ...advantages] }),
    ...(auxiliary && {
      auxiliary: {
        targets: [...virtual.map(() => []), ...auxiliary.targets],
        weights: [...none, ...auxiliary.weights],
      },
    }),
  }
}

/** Vocabularies list what is frequent first: tokens beyond the first 5,000 are not drawn (as in Lester et al. 2021). */
const frequent = 5_000

/**
 * A soft prompt to begin with: the embeddings of `initial`, over and over where there are fewer than vectors, and the
 * first of them where there are more; without any, of tokens drawn by the seed.
 */
export function initialPrompt(
  { config, tensors }: ModelWeights,
  { length }: SoftPromptConfig,
  { initial, seed }: { readonly initial?: readonly number[]; readonly seed: number },
): SoftPrompt {
  const { vocabSize, hiddenSize, embeddingScale = 1 } = config
  const embedding = present(tensors.get(names.embedding), names.embedding)
  const random = rng('soft-prompt', seed)
  const values = new Float32Array(length * hiddenSize)
  for (let row = 0; row < length; row++) {
    const token = initial?.length
      ? (initial[row % initial.length] as number)
      : random.int(Math.min(vocabSize, frequent))
    const vector = embedding.subarray(token * hiddenSize, (token + 1) * hiddenSize)
    values.set(
      vector.map((value) => value * embeddingScale),
      row * hiddenSize,
    )
  }
  return { length, values }
}
