import { UnsupportedModelError } from '../unsupported-model-error.ts'
import { MalformedGgufError } from './malformed-gguf-error.ts'
import { preTokenizers } from './pre-tokenizers.ts'
import { scoredMerges } from './scored-merges.ts'
import { tokenTypes, typeOf, type Vocabulary } from './vocabulary.ts'
import { spaceMark } from '../sentencepiece.ts'

/**
 * A file's tokenizer in the form of tokenizer.json: byte-level BPE (`gpt2`) with one of the known ways to cut a text into
 * words, or SentencePiece's BPE (`llama`).
 * @throws UnsupportedModelError, MalformedGgufError naming the entry.
 */
export function tokenizerJson(vocabulary: Vocabulary): Record<string, unknown> {
  switch (vocabulary.model) {
    case 'gpt2':
      return byteLevel(vocabulary)
    case 'llama':
      return sentencePiece(vocabulary)
    default:
      throw new UnsupportedModelError('tokenizer.ggml.model', vocabulary.model, '"gpt2" or "llama"')
  }
}

function byteLevel(vocabulary: Vocabulary): Record<string, unknown> {
  const { pre = null, merges } = vocabulary
  const known = preTokenizers.get(pre ?? '')
  if (known === undefined)
    throw new UnsupportedModelError('tokenizer.ggml.pre', pre, [...preTokenizers.keys()].join(', '))
  if (merges === undefined) throw new MalformedGgufError('it has no tokenizer.ggml.merges')
  const { wholeWords, ...steps } = known
  return {
    added_tokens: addedTokens(vocabulary),
    ...steps,
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab: spellings(vocabulary), merges, ignore_merges: wholeWords },
  }
}

function sentencePiece(vocabulary: Vocabulary): Record<string, unknown> {
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: spaceMark }
  const prepend = { type: 'Prepend', prepend: spaceMark }
  const spaceBefore = vocabulary.add_space_prefix ?? true
  const unknown = vocabulary.tokens.findIndex((_, token) => typeOf(vocabulary, token) === tokenTypes.unknown)
  return {
    added_tokens: addedTokens(vocabulary),
    normalizer: spaceBefore ? { type: 'Sequence', normalizers: [prepend, replace] } : replace,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'ByteFallback' },
    model: {
      type: 'BPE',
      vocab: spellings(vocabulary),
      merges: scoredMerges(vocabulary),
      unk_token: vocabulary.tokens[unknown] ?? null,
      byte_fallback: true,
      fuse_unk: true,
      ignore_merges: false,
    },
  }
}

/** Tokens that are found in a text before it is cut into words. Only control tokens mean more than their characters. */
function addedTokens(vocabulary: Vocabulary) {
  return vocabulary.tokens.flatMap((content, id) => {
    const type = typeOf(vocabulary, id)
    const special = type === tokenTypes.control || type === tokenTypes.unknown
    if ((!special && type !== tokenTypes.userDefined) || content === '') return []
    return [{ id, content, special, single_word: false, lstrip: false, rstrip: false, normalized: false }]
  })
}

/** Ids by spelling, without those that no merge makes. */
function spellings(vocabulary: Vocabulary): Record<string, number> {
  const words = vocabulary.tokens.map((spelling, id) => [spelling, id] as const)
  return Object.fromEntries(words.filter(([, id]) => typeOf(vocabulary, id) !== tokenTypes.control))
}
