/** Special tokens of the tiny model, by id. */
export const specialTokens = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'] as const

/**
 * The content of a tokenizer.json: byte-level BPE, every byte a token, and each of `words` one token, with and without
 * the space before it.
 */
export function byteLevelTokenizer(words: readonly string[]): {
  readonly json: object
  readonly vocabularySize: number
} {
  const vocabulary = new Map<string, number>()
  const add = (spelling: string) => {
    if (!vocabulary.has(spelling)) vocabulary.set(spelling, vocabulary.size)
  }
  for (const special of specialTokens) add(special)
  for (let byte = 0; byte < 256; byte++) add(characterOf(byte))
  const merges: (readonly [string, string])[] = []
  for (const spelling of words.flatMap((word) => [word, ` ${word}`])) {
    const characters = [...new TextEncoder().encode(spelling)].map(characterOf)
    for (let i = 1; i < characters.length; i++) {
      const [left, right] = [characters.slice(0, i).join(''), characters[i] as string]
      if (vocabulary.has(left + right)) continue
      merges.push([left, right])
      add(left + right)
    }
  }
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
  const json = {
    version: '1.0',
    added_tokens: specialTokens.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: { type: 'BPE', unk_token: null, vocab: Object.fromEntries(vocabulary), merges },
  }
  return { json, vocabularySize: vocabulary.size }
}

/** The visible character by which byte-level vocabularies spell a byte (GPT-2's table). */
const characterOf: (byte: number) => string = (() => {
  const isPrintable = (byte: number) => (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte !== 0xad)
  let next = 0x100
  const table = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++))
  return (byte) => table[byte] as string
})()
