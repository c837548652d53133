import { Tokenizer } from '@huggingface/tokenizers'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { z } from 'zod'
import { type Embedder, sha256 } from '../core/index.ts'
import { keepToOurselves, ModelNotFoundError } from './embedded/index.ts'

/** Which sentence model to load. */
export interface SentenceEmbedderOptions {
  /** A folder as Hugging Face has them: `tokenizer.json`, `config.json` and the model. */
  readonly folder: string
  /** The model's file in it. Default `onnx/model_quantized.onnx`. */
  readonly file?: string
  /** Tokens of one text that are read; the rest is not. Default 256. */
  readonly maxTokens?: number
}

const Config = z.looseObject({ hidden_size: z.int().positive() })
const TokenizerJson = z.looseObject({})

/**
 * A sentence model of the BERT family in ONNX, such as all-MiniLM-L6-v2: the mean of what it says of each token. It knows
 * synonyms, which `lexicalEmbedder` does not; it costs milliseconds a text, so that vectors are kept with their items.
 * @throws ModelNotFoundError where the folder lacks one of the three files.
 */
export async function openSentenceEmbedder({
  folder,
  file = join('onnx', 'model_quantized.onnx'),
  maxTokens = 256,
}: SentenceEmbedderOptions): Promise<Embedder> {
  const [model, tokenizerJson, configJson] = await Promise.all(
    [file, 'tokenizer.json', 'config.json'].map((name) => fileOf(folder, name)),
  )
  const { hidden_size: dimensions } = Config.parse(JSON.parse(String(configJson)))
  const json = TokenizerJson.parse(JSON.parse(String(tokenizerJson)))
  // What it was cut and filled to in training is not ours.
  const tokenizer = new Tokenizer({ ...json, truncation: null, padding: null }, {})
  keepToOurselves()
  const session = await InferenceSession.create(model ?? Buffer.of(), { intraOpNumThreads: 1 })
  const one = async (text: string): Promise<Float32Array> => {
    const ids = tokenizer.encode(text).ids.slice(0, maxTokens)
    const outputs = await session.run(inputsOf(session, ids))
    const { data } = z.object({ data: z.instanceof(Float32Array) }).parse(outputs[session.outputNames[0] ?? ''])
    return meanOf(data, ids.length, dimensions)
  }
  return {
    name: `sentence-${sha256(model ?? '').slice(0, 16)}-${maxTokens}`,
    dimensions,
    costly: true,
    async embed(texts) {
      const vectors: Float32Array[] = []
      for (const text of texts) vectors.push(await one(text))
      return vectors
    },
  }
}

async function fileOf(folder: string, name: string): Promise<Buffer> {
  try {
    return await readFile(join(folder, name))
  } catch (cause) {
    throw new ModelNotFoundError(
      `The sentence model has no "${name}" in "${folder}".`,
      'Give a folder as Hugging Face has them, with tokenizer.json, config.json and the model in ONNX.',
      cause,
    )
  }
}

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
