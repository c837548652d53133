import { z } from 'zod'
import { MalformedGgufError } from './malformed-gguf-error.ts'
import type { GgufMetadata } from './metadata.ts'

const texts = z.array(z.string())
const numbers = z.instanceof(Float64Array)
const id = z.int().nonnegative()

const Entries = z.looseObject({
  model: z.string(),
  pre: z.string().optional(),
  tokens: texts.min(1),
  scores: numbers.optional(),
  token_type: numbers.optional(),
  merges: texts.optional(),
  add_space_prefix: z.boolean().optional(),
  bos_token_id: id.optional(),
  eos_token_id: id.optional(),
  eot_token_id: id.optional(),
  unknown_token_id: id.optional(),
  padding_token_id: id.optional(),
})

/** What a file says about its tokenizer, without the `tokenizer.ggml.` before each key. */
export type Vocabulary = z.infer<typeof Entries>

/** Kinds of tokens, by ggml's numbers. */
export const tokenTypes = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const

/**
 * @throws MalformedGgufError naming the entry that is missing, of the wrong type, or does not fit the tokens.
 */
export function readVocabulary(metadata: GgufMetadata): Vocabulary {
  const prefix = 'tokenizer.ggml.'
  const own = [...metadata].filter(([key]) => key.startsWith(prefix))
  const parsed = Entries.safeParse(Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value])))
  if (!parsed.success)
    throw new MalformedGgufError(
      `its tokenizer.ggml.* metadata do not fit: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
      { cause: parsed.error },
    )
  const { tokens, scores, token_type } = parsed.data
  for (const [key, list] of Object.entries({ scores, token_type }))
    if (list !== undefined && list.length !== tokens.length)
      throw new MalformedGgufError(`its ${prefix}${key} has ${list.length} elements for ${tokens.length} tokens`)
  return parsed.data
}

/** The kind of a token; without any list of kinds all are normal. */
export const typeOf = ({ token_type }: Vocabulary, token: number): number => token_type?.[token] ?? tokenTypes.normal
