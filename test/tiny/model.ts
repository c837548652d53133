import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Rng, rng } from '../../src/core/index.ts'
import { readTransformerConfig } from '../../src/model/embedded/load/architecture/read-config.ts'
import { weightShapes } from '../../src/model/embedded/transformer/weights.ts'
import { writeSafetensors } from '../../src/model/embedded/load/safetensors.ts'
import { byteLevelTokenizer, specialTokens } from './tokenizer.ts'

/** What a tiny model may be made with. */
export interface TinyModelOptions {
  /** Equal seeds make equal files. */
  readonly seed?: number
  /** Words that get a token of their own, with and without a space before them. */
  readonly words?: readonly string[]
  readonly hiddenSize?: number
  readonly layers?: number
}

const chatTemplate =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

/**
 * Writes a Hugging Face folder with a Llama of random weights: small enough to train in a test, whole enough for every
 * part of the engine.
 */
export function writeTinyModel(
  folder: string,
  { seed = 1, words = [], hiddenSize = 64, layers = 2 }: TinyModelOptions = {},
): void {
  const { json: tokenizer, vocabularySize } = byteLevelTokenizer(words)
  const config = {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: vocabularySize,
    hidden_size: hiddenSize,
    intermediate_size: 2 * hiddenSize,
    num_hidden_layers: layers,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    rope_theta: 10_000,
    rms_norm_eps: 1e-5,
    max_position_embeddings: 256,
    tie_word_embeddings: true,
    hidden_act: 'silu',
  }
  const random = rng('tiny-model', seed)
  const tensors = new Map(
    [...weightShapes(readTransformerConfig(config))].map(([name, shape]) => {
      const data = new Float32Array(shape.reduce((product, size) => product * size, 1))
      if (shape.length === 1) data.fill(1)
      else fillNormal(data, name.includes('embed') ? 0.25 : 1 / Math.sqrt(shape[1] as number), random)
      return [name, { shape, data }]
    }),
  )
  const [, start, end] = specialTokens
  const settings = { bos_token: start, eos_token: end, chat_template: chatTemplate, model_max_length: 256 }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer))
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(settings))
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(tensors))
}

/** Normal deviates (Box–Muller) of the given standard deviation. */
function fillNormal(data: Float32Array, deviation: number, random: Rng): void {
  for (let i = 0; i < data.length; i++) {
    const radius = Math.sqrt(-2 * Math.log(1 - random.next()))
    data[i] = deviation * radius * Math.cos(2 * Math.PI * random.next())
  }
}
