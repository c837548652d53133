import { z } from 'zod'
import { readJson, readText } from './files.ts'
import type { ChatTemplate } from './loaded-model.ts'
import { MalformedModelError } from './malformed-model-error.ts'
import type { Tokenizer } from './tokenizer.ts'

/** A special token's spelling, alone or with flags beside it. */
const Spelling = z
  .union([z.string(), z.looseObject({ content: z.string() })])
  .transform((token) => (typeof token === 'string' ? token : token.content))

const TokenizerConfig = z.looseObject({
  chat_template: z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]).nullish(),
  bos_token: Spelling.nullish(),
  eos_token: Spelling.nullish(),
  pad_token: Spelling.nullish(),
  unk_token: Spelling.nullish(),
})
type TokenizerConfig = z.infer<typeof TokenizerConfig>

const id = z.int().nonnegative()
const GenerationConfig = z.looseObject({ eos_token_id: z.union([id.transform((one) => [one]), z.array(id)]).nullish() })

/**
 * How the model in a folder holds a conversation: its chat template and the tokens that end its turn.
 * @throws MalformedModelError when a file is not as transformers writes it.
 */
export async function readConversation(
  folder: string,
  tokenizer: Tokenizer,
): Promise<{ chatTemplate: ChatTemplate | null; stopTokens: number[] }> {
  const settings = await readChecked(folder, 'tokenizer_config.json', TokenizerConfig)
  const generation = await readChecked(folder, 'generation_config.json', GenerationConfig)
  const source = (await readText(folder, 'chat_template.jinja')) ?? templateSource(settings)
  const stopTokens = new Set(generation.eos_token_id ?? [])
  const endOfTurn = tokenizer.specialTokenId(settings.eos_token ?? '')
  if (endOfTurn !== null) stopTokens.add(endOfTurn)
  return {
    chatTemplate: source === null ? null : { source, variables: spellings(settings) },
    stopTokens: [...stopTokens],
  }
}

/** Among several templates the one named `tool_use` is preferred, then `default`. */
function templateSource({ chat_template: found }: TokenizerConfig): string | null {
  if (!Array.isArray(found)) return found ?? null
  const named = (name: string) => found.find((template) => template.name === name)?.template
  return named('tool_use') ?? named('default') ?? null
}

function spellings(settings: TokenizerConfig): Record<string, string> {
  const { bos_token, eos_token, pad_token, unk_token } = settings
  const all = Object.entries({ bos_token, eos_token, pad_token, unk_token })
  return Object.fromEntries(all.flatMap(([name, spelling]) => (typeof spelling === 'string' ? [[name, spelling]] : [])))
}

async function readChecked<T>(folder: string, file: string, schema: z.ZodType<T>): Promise<T> {
  const parsed = schema.safeParse((await readJson(folder, file)) ?? {})
  if (parsed.success) return parsed.data
  throw new MalformedModelError(
    `${file} in ${folder} is not usable: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`,
    parsed.error,
  )
}
