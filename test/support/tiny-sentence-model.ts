import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GraphBuilder } from '../../src/model/embedded/graph/builder.ts'

/** Words of like meaning share a direction; what it does not know has none. */
const meanings: readonly (readonly string[])[] = [
  ['fridge', 'refrigerator'],
  ['noisy', 'hums'],
  ['ferry', 'boat'],
  ['late', 'delayed'],
]

/** The files of a sentence model that knows eight words, as a folder of Hugging Face has them. */
export function tinySentenceModel(): Readonly<Record<string, Uint8Array>> {
  const words = ['[UNK]', ...meanings.flat()]
  const dimensions = meanings.length
  const rows = words.flatMap((word) => meanings.map((alike) => Number(alike.includes(word))))
  const graph = new GraphBuilder('sentences')
  const ids = graph.input('input_ids', 'int64', ['texts', 'tokens'])
  const table = graph.initializer('words', 'float32', [words.length, dimensions], Float32Array.from(rows))
  graph.output('last_hidden_state', graph.node('Gather', [table, ids], 'float32', ['texts', 'tokens', dimensions]))
  const tokenizer = {
    added_tokens: [],
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map((word, i) => [word, i])),
    },
  }
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  return {
    'config.json': json({ architectures: ['BertModel'], hidden_size: dimensions }),
    'tokenizer.json': json(tokenizer),
    'onnx/model_quantized.onnx': graph.build(),
  }
}

/** Writes {@link tinySentenceModel} into a folder. @returns the folder. */
export function putSentenceModel(folder: string): string {
  mkdirSync(join(folder, 'onnx'), { recursive: true })
  for (const [path, content] of Object.entries(tinySentenceModel())) writeFileSync(join(folder, path), content)
  return folder
}
