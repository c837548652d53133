import type { TransformerConfig } from '../transformer/config.ts'
import { names, weightShapes } from '../transformer/weights.ts'
import { MalformedModelError } from './malformed-model-error.ts'
import type { Tokenizer } from './tokenizer.ts'
import { UnsupportedModelError } from './unsupported-model-error.ts'

/**
 * No id may lie beyond the embedding: the first that does is named.
 * @param where the folder or file, for the complaint.
 */
export function checkVocabulary(where: string, { vocabSize }: TransformerConfig, tokenizer: Tokenizer): void {
  if (tokenizer.vocabularySize <= vocabSize) return
  throw new MalformedModelError(
    `The tokenizer in ${where} does not belong to its model: its token ${tokenizer.vocabularySize - 1} ` +
      `(${JSON.stringify(tokenizer.decode([tokenizer.vocabularySize - 1]))}) lies beyond the model's vocab_size of ${vocabSize}.`,
  )
}

/**
 * Exactly the tensors that the configuration needs, each of the shape that it needs.
 * @param where the folder or file, for the complaint.
 * @throws MalformedModelError, UnsupportedModelError naming the tensor.
 */
export function checkTensors(
  where: string,
  config: TransformerConfig,
  found: ReadonlyMap<string, { readonly shape: readonly number[] }>,
): void {
  const needed = weightShapes(config)
  for (const [name, shape] of needed) {
    const tensor = found.get(name)
    if (tensor === undefined) throw new MalformedModelError(`The weights in ${where} lack the tensor ${name}.`)
    if (tensor.shape.join() !== shape.join())
      throw new MalformedModelError(
        `Tensor ${name} in ${where} has shape [${tensor.shape.join(', ')}], and its configuration asks for [${shape.join(', ')}].`,
      )
  }
  for (const name of found.keys())
    if (!needed.has(name) && !isRedundant(name, config))
      throw new UnsupportedModelError(
        `tensor ${name}`,
        'present',
        'what its configuration describes, and no other tensors',
      )
}

/** Tensors that restate what the configuration says: rotary frequencies, and the head where it is the embedding. */
const isRedundant = (name: string, { tiedHead }: TransformerConfig): boolean =>
  name.endsWith('.rotary_emb.inv_freq') || (tiedHead && name === names.head)
