import { MalformedGgufError } from './malformed-gguf-error.ts'
import type { ChatTemplate } from '../loaded-model.ts'
import type { GgufMetadata } from './metadata.ts'
import type { Vocabulary } from './vocabulary.ts'

/** How a file's model holds a conversation: its chat template and the tokens that end its turn. */
export function conversationOf(
  metadata: GgufMetadata,
  vocabulary: Vocabulary,
): { readonly chatTemplate: ChatTemplate | null; readonly stopTokens: readonly number[] } {
  const { bos_token_id, eos_token_id, eot_token_id, padding_token_id, unknown_token_id } = vocabulary
  const named = {
    bos_token: bos_token_id,
    eos_token: eos_token_id,
    pad_token: padding_token_id,
    unk_token: unknown_token_id,
  }
  const variables = Object.entries(named).flatMap(([name, token]) =>
    token === undefined ? [] : [[name, spelling(vocabulary, token)] as const],
  )
  const source = metadata.get('tokenizer.chat_template') ?? null
  if (source !== null && typeof source !== 'string')
    throw new MalformedGgufError('its tokenizer.chat_template is no text')
  const ends = [eos_token_id, eot_token_id].flatMap((token) => (token === undefined ? [] : [token]))
  return {
    chatTemplate: source === null ? null : { source, variables: Object.fromEntries(variables) },
    stopTokens: [...new Set(ends)],
  }
}

function spelling({ tokens }: Vocabulary, token: number): string {
  const found = tokens[token]
  if (found === undefined)
    throw new MalformedGgufError(`its metadata name the token ${token}, and there are ${tokens.length} tokens`)
  return found
}
