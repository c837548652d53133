import type { ModelService, Precision, TrainingMethod } from '../core/index.ts'
import {
  bytesOf,
  type EngineDatastores,
  type EmbeddedEngineOptions,
  loadModel,
  openEmbeddedEngine,
  textOfTokens,
  type Tokenizer,
} from './embedded/index.ts'
import { type RendererKind, rendererFor } from './renderer/index.ts'

/** Which model to load, how to talk to it, and how much of the machine it gets. */
export interface EmbeddedModelOptions
  extends Pick<EmbeddedEngineOptions, 'workers' | 'threadsPerWorker' | 'deterministic' | 'device' | 'precision'> {
  /** A known name (`minimind2-small`), the name of a pulled model, or the path of a Hugging Face folder or GGUF file. */
  readonly reference: string
  /** How conversations are laid out. Default `template`: the model's own. */
  readonly renderer?: RendererKind
}

/** A model ready to sample, train and talk, in this process. */
export interface EmbeddedModel {
  readonly service: ModelService
  /** What the base's projections are multiplied in. */
  readonly precision: Precision
  /** Datastores of text, whose next tokens the sampler can mix in: `SamplingParams.nearest`. */
  readonly datastores: EngineDatastores
  /** Tokens of a text, special spellings read as ordinary characters: what datastores are built from. */
  encode(text: string): readonly number[]
  /** Tokens of a text, special spellings read as ordinary characters. */
  countTokens(text: string): number
}

/**
 * Loads a model and starts the embedded engine on it.
 * @throws ModelNotFoundError, MalformedModelError, UnsupportedModelError when it cannot be loaded.
 * @throws PrecisionUnavailableError when it is to multiply bytes where that is not possible.
 * @throws DeviceUnavailableError when it is to run on a device that cannot be used on this machine.
 * @throws UnusableTemplateError when it has no chat template that can be used, and one is asked for.
 */
export async function openEmbeddedModel({
  reference,
  renderer: kind = 'template',
  ...engineOptions
}: EmbeddedModelOptions): Promise<EmbeddedModel> {
  const { weights, tokenizer, ...model } = await loadModel(reference)
  const renderer = rendererFor({ ...model, tokenizer }, kind)
  const decode = (tokens: readonly number[]) => tokenizer.decode(tokens)
  const engine = await openEmbeddedEngine({
    ...engineOptions,
    model: weights,
    name: model.name,
    decode,
    vocabulary: () => textOfTokens(tokenizer),
  })
  return {
    service: {
      base: reference,
      baseHash: model.hash,
      sampler: engine.sampler,
      renderer,
      trainer: (method, seed) => engine.trainer({ method: spelledOut(method, tokenizer), seed }),
      loadAdapter: async (saved) => engine.loadAdapter(bytesOf(saved)),
      close: () => engine.close(),
    },
    precision: engine.precision,
    datastores: engine.datastores,
    encode: (text) => tokenizer.encode(text),
    countTokens: (text) => tokenizer.encode(text).length,
  }
}

/** A soft prompt that begins as a text begins as its tokens, special spellings read as ordinary characters. */
function spelledOut(method: TrainingMethod, tokenizer: Tokenizer): TrainingMethod {
  if (method.kind !== 'prompt' || typeof method.initial !== 'string') return method
  return { ...method, initial: tokenizer.encode(method.initial) }
}
