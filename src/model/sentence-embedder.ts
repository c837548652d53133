import { Tokenizer } from '@huggingface/tokenizers'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { z } from 'zod'
import { type Embedder, sha256 } from '../core/index.ts'
import { keepToOurselves, MalformedModelError, ModelNotFoundError } from './embedded/index.ts'
import { readBytes, readJson } from './embedded/load/files.ts'
import { type SentenceModelFolder, sentenceModelFolder } from './sentence-model-folder.ts'

/** Which sentence model to load. */
export interface SentenceEmbedderOptions {
  /**
   * The name of a model that `ratchet pull` fetched (`minilm`), or the path of a folder as Hugging Face has them:
   * `tokenizer.json`, `config.json` and the model. A path goes before a name.
   */
  readonly model: string
  /** The model's file in its folder. Default `onnx/model_quantized.onnx`. */
  readonly file?: string
  /** Tokens of one text that are read; the rest is not. Default 256. */
  readonly maxTokens?: number
}

const Config = z.looseObject({ hidden_size: z.int().positive() })
const TokenizerJson = z.looseObject({})
const Output = z.object({ data: z.instanceof(Float32Array) })

/**
 * A sentence model of the BERT family in ONNX, such as all-MiniLM-L6-v2: the mean of what it says of each token. It knows
 * synonyms, which `lexicalEmbedder` does not; it costs milliseconds a text, so that vectors are kept with their items.
 * @throws ModelNotFoundError where it was not pulled, and no folder has that name; and where one of the three files is missing.
 * @throws ModelUseError for the name of a language model.
 * @throws MalformedModelError where a file cannot be read or used.
 */
export async function openSentenceEmbedder({
  model,
  file = join('onnx', 'model_quantized.onnx'),
  maxTokens = 256,
}: SentenceEmbedderOptions): Promise<Embedder> {
  const place = await sentenceModelFolder(model)
  const dimensions = await dimensionsOf(place)
  const tokenizer = await tokenizerOf(place)
  const bytes = (await readBytes(place.folder, file)) ?? missing(place, file)
  keepToOurselves()
  const session = await usable(place, file, () => InferenceSession.create(bytes, { intraOpNumThreads: 1 }))
  const one = async (text: string): Promise<Float32Array> => {
    const ids = tokenizer.encode(text).ids.slice(0, maxTokens)
    const states = await usable(place, file, async () => {
      const outputs = await session.run(inputsOf(session, ids))
      return Output.parse(outputs[session.outputNames[0] ?? '']).data
    })
    if (states.length !== ids.length * dimensions)
      throw unusable(place, file, `it does not give ${dimensions} numbers a token, as config.json says`)
    return meanOf(states, ids.length, dimensions)
  }
  return {
    name: `sentence-${sha256(bytes).slice(0, 16)}-${maxTokens}`,
    dimensions,
    costly: true,
    async embed(texts) {
      const vectors: Float32Array[] = []
      for (const text of texts) vectors.push(await one(text))
      return vectors
    },
  }
}

async function dimensionsOf(place: SentenceModelFolder): Promise<number> {
  const json = (await readJson(place.folder, 'config.json')) ?? missing(place, 'config.json')
  return (await usable(place, 'config.json', () => Config.parse(json))).hidden_size
}

async function tokenizerOf(place: SentenceModelFolder): Promise<Tokenizer> {
  const json = (await readJson(place.folder, 'tokenizer.json')) ?? missing(place, 'tokenizer.json')
  // What it was cut and filled to in training is not ours.
  const whole = () => new Tokenizer({ ...TokenizerJson.parse(json), truncation: null, padding: null }, {})
  return usable(place, 'tokenizer.json', whole)
}

function missing({ folder, hint }: SentenceModelFolder, file: string): never {
  throw new ModelNotFoundError(`The sentence model has no "${file}" in "${folder}".`, hint)
}

/** What is made of a file. @throws MalformedModelError where nothing can be. */
async function usable<T>(place: SentenceModelFolder, file: string, make: () => T | Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause)
    throw unusable(place, file, why.replaceAll('\n', ' '), cause)
  }
}

const unusable = ({ folder }: SentenceModelFolder, file: string, why: string, cause?: unknown) =>
  new MalformedModelError(`${join(folder, file)} cannot be used for a sentence model: ${why}`, cause)

function inputsOf({ inputNames }: InferenceSession, ids: readonly number[]): Record<string, Tensor> {
  const filled = (value: (i: number) => number) =>
    new Tensor(
      'int64',
      BigInt64Array.from(ids, (_, i) => BigInt(value(i))),
      [1, ids.length],
    )
  const all: Readonly<Record<string, Tensor>> = {
    input_ids: filled((i) => ids[i] ?? 0),
    attention_mask: filled(() => 1),
    token_type_ids: filled(() => 0),
  }
  return Object.fromEntries(Object.entries(all).filter(([name]) => inputNames.includes(name)))
}

/** The mean over tokens, with length 1. */
function meanOf(states: Float32Array, tokens: number, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions)
  for (let t = 0; t < tokens; t++) {
    for (let i = 0; i < dimensions; i++) mean[i] = (mean[i] ?? 0) + (states[t * dimensions + i] ?? 0)
  }
  const length = Math.hypot(...mean)
  return length === 0 ? mean : mean.map((value) => value / length)
}
