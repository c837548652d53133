import { z } from 'zod'
import type { TokenizerJson } from './tokenizer-json.ts'

/**
 * Where tokenizer.json describes SentencePiece's BPE (Llama 2, TinyLlama, Mistral, Gemma): a space is spelled U+2581, and
 * what the vocabulary has no piece for is spelled in bytes, `<0x0A>`. Unlike byte-level BPE there are no words: a text
 * is merged as one.
 */
export interface SentencePiece {
  /** Whether a text gets a space before it, at its beginning and after every special token. */
  readonly spaceBefore: boolean
}

export const spaceMark = '\u2581'

const Part = z.looseObject({ type: z.string() })
const Sequence = z.looseObject({
  type: z.literal('Sequence'),
  normalizers: z.array(Part).optional(),
  pretokenizers: z.array(Part).optional(),
})
const Prepend = z.looseObject({ type: z.literal('Prepend'), prepend: z.literal(spaceMark) })
const Replace = z.looseObject({
  type: z.literal('Replace'),
  pattern: z.looseObject({ String: z.literal(' ') }),
  content: z.literal(spaceMark),
})
const Metaspace = z.looseObject({
  type: z.literal('Metaspace'),
  replacement: z.literal(spaceMark),
  prepend_scheme: z.enum(['always', 'first', 'never']).default('always'),
  split: z.literal(false),
})
/** Spaces are gone by then: it splits nothing. */
const SplitAtSpaces = z.looseObject({ type: z.literal('Split'), pattern: z.looseObject({ String: z.literal(' ') }) })
const Step = z.union([Prepend, Replace, Metaspace, SplitAtSpaces])

/** What a tokenizer.json says about SentencePiece; null for any other kind of BPE. */
export function sentencePieceOf({ normalizer, pre_tokenizer, decoder, model }: TokenizerJson): SentencePiece | null {
  if (model['byte_fallback'] !== true || !JSON.stringify(decoder).includes('"ByteFallback"')) return null
  const steps = [...stepsOf(normalizer), ...stepsOf(pre_tokenizer)].map((step) => Step.safeParse(step))
  if (steps.some(({ success }) => !success)) return null
  const known = steps.flatMap(({ data }) => (data === undefined ? [] : [data]))
  if (!known.some(({ type }) => type === 'Replace' || type === 'Metaspace')) return null
  return {
    spaceBefore: known.some(
      (step) => step.type === 'Prepend' || (step.type === 'Metaspace' && step.prepend_scheme !== 'never'),
    ),
  }
}

/** The same tokenizer, which marks spaces and puts none before a text: where one begins, only the caller knows. */
export const spacesMarked = (json: TokenizerJson): TokenizerJson => ({
  ...json,
  normalizer: { type: 'Replace', pattern: { String: ' ' }, content: spaceMark },
  pre_tokenizer: null,
})

function stepsOf(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return []
  const sequence = Sequence.safeParse(value)
  return sequence.success ? (sequence.data.normalizers ?? sequence.data.pretokenizers ?? []) : [value]
}
