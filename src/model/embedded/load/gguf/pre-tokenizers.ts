/** How texts are cut into words before merging, in the form of tokenizer.json, and whether a word that is a token is that token. */
interface PreTokenizer {
  readonly normalizer: unknown
  readonly pre_tokenizer: unknown
  readonly wholeWords: boolean
}

/** GPT-2's words: the expression that `ByteLevel` has built in. */
const gpt2Words = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
const bytes = { ...gpt2Words, use_regex: false }

const split = (expression: string) => ({
  type: 'Split',
  pattern: { Regex: expression },
  behavior: 'Isolated',
  invert: false,
})

/** The words of Llama 3 and Qwen differ in how many digits stand together. */
const words = (digits: string) => ({
  type: 'Sequence',
  pretokenizers: [
    split(
      `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
    ),
    bytes,
  ],
})

const gpt2: PreTokenizer = { normalizer: null, pre_tokenizer: gpt2Words, wholeWords: false }
const llama3: PreTokenizer = { normalizer: null, pre_tokenizer: words('\\p{N}{1,3}'), wholeWords: true }
/** Digits one by one. */
const smollm: PreTokenizer = {
  normalizer: null,
  pre_tokenizer: { type: 'Sequence', pretokenizers: [split('\\p{N}'), gpt2Words] },
  wholeWords: false,
}
const qwen2: PreTokenizer = { normalizer: { type: 'NFC' }, pre_tokenizer: words('\\p{N}'), wholeWords: false }

/** By the names that files give in `tokenizer.ggml.pre`. */
export const preTokenizers: ReadonlyMap<string, PreTokenizer> = new Map([
  ['gpt-2', gpt2],
  ['llama-bpe', llama3],
  ['llama3', llama3],
  ['qwen2', qwen2],
  ['smollm', smollm],
])
