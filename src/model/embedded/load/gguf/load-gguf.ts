import { basename } from 'node:path'
import { contentHash, sha256 } from '../../../../core/index.ts'
import { present } from '../../../../errors/index.ts'
import type { TransformerConfig } from '../../transformer/config.ts'
import { weightShapes } from '../../transformer/weights.ts'
import type { LoadedModel } from '../loaded-model.ts'
import { checkTensors, checkVocabulary } from '../parts-fit.ts'
import { readTokenizer, type Tokenizer } from '../tokenizer.ts'
import { conversationOf } from './conversation.ts'
import { type GgufFile, withGgufFile } from './file.ts'
import type { GgufHeader } from './header.ts'
import { readModelConfig } from './model-config.ts'
import { halfSplitRows, type NamedTensor, namedTensors } from './tensors.ts'
import { tokenizerJson } from './tokenizer-json.ts'
import { readVocabulary } from './vocabulary.ts'

/**
 * Loads a GGUF file: configuration, tokenizer and chat template from its metadata, and its weights in f32. Everything is
 * checked before a weight is read; beside the weights, one tensor's bytes are in memory at a time.
 * @throws MalformedGgufError, MalformedModelError, MalformedTokenizerError, UnsupportedModelError or
 * UnsupportedQuantizationError, all InputErrors.
 */
export function loadGguf(path: string): Promise<LoadedModel> {
  return withGgufFile(path, async (file) => {
    const { architecture, config, json, tokenizer, ...conversation } = described(path, file)
    const tensors = namedTensors(config, architecture, file)
    checkTensors(path, config, tensors)
    return {
      name: basename(path).replace(/\.gguf$/i, ''),
      hash: contentHash({
        config,
        weights: await file.hash(),
        tokenizer: sha256(JSON.stringify(json)),
        chatTemplate: conversation.chatTemplate && { ...conversation.chatTemplate },
      }),
      weights: { config, tensors: await readWeights(file, config, tensors) },
      tokenizer,
      ...conversation,
    }
  })
}

/**
 * What a GGUF file says of its model beside the weights, of which none is read.
 * @throws as {@link loadGguf} does.
 */
export const describeGguf = (path: string): Promise<GgufDescription> =>
  withGgufFile(path, async (file) => described(path, file))

/** Configuration, tokenizer and how the model holds a conversation. */
interface GgufDescription extends ReturnType<typeof readModelConfig>, ReturnType<typeof conversationOf> {
  /** As `tokenizer.json` would have it. */
  readonly json: ReturnType<typeof tokenizerJson>
  readonly tokenizer: Tokenizer
}

function described(path: string, file: GgufHeader): GgufDescription {
  const { architecture, config } = readModelConfig(file)
  const vocabulary = readVocabulary(file.metadata)
  const json = tokenizerJson(vocabulary)
  const tokenizer = readTokenizer(json)
  checkVocabulary(path, config, tokenizer)
  return { architecture, config, json, tokenizer, ...conversationOf(file.metadata, vocabulary) }
}

/** The parameters of the model, in the model's order. */
async function readWeights(
  file: GgufFile,
  config: TransformerConfig,
  tensors: ReadonlyMap<string, NamedTensor>,
): Promise<Map<string, Float32Array>> {
  const weights = new Map<string, Float32Array>()
  for (const name of weightShapes(config).keys()) {
    const tensor = present(tensors.get(name), name)
    const values = await file.values(tensor.source, tensor)
    const heads = tensor.interleavedHeads
    weights.set(name, heads === 0 ? values : halfSplitRows(values, heads, config.headDim))
  }
  return weights
}
