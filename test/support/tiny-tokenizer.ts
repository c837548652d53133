import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The characters by which byte-level tokenizers spell bytes (GPT-2's `bytes_to_unicode`), in the order of their code points. */
function byteAlphabet(): string[] {
  const printable = [...range(33, 127), ...range(161, 173), ...range(174, 256)]
  const rest = Array.from({ length: 256 - printable.length }, (_, i) => 256 + i)
  return [...printable, ...rest].sort((a, b) => a - b).map((code) => String.fromCodePoint(code))
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)

/** A folder with the configuration, tokenizer and chat template of a model of 259 tokens, without weights. */
export function tinyTokenizerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-tokenizer-'))
  const special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
  const write = (file: string, content: unknown) => writeFileSync(join(folder, file), JSON.stringify(content))
  write('config.json', { vocab_size: 259, max_position_embeddings: 512 })
  write('tokenizer.json', {
    added_tokens: special.map((content, i) => ({
      id: 256 + i,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', vocab: Object.fromEntries(byteAlphabet().map((byte, i) => [byte, i])), merges: [] },
  })
  write('tokenizer_config.json', {
    eos_token: '<|im_end|>',
    chat_template:
      '{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
  })
  return folder
}
