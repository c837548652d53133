import { z } from 'zod'
import { ServerKind } from './server-kind.ts'

/** Whether a URL is an address and no more: it is kept and shown. */
function isBare(url: string): boolean {
  if (!URL.canParse(url)) return true
  const { username, password, search, hash } = new URL(url)
  return username + password + search + hash === ''
}

/** A server that speaks the Tinker protocol, as configurations name it. `TINKER_API_KEY` holds its key. */
export const TinkerServer = z.strictObject({
  /** Its root, for example `http://127.0.0.1:8000`. */
  url: z
    .url({ protocol: /^https?$/ })
    .refine(isBare, 'not only an address: a key is not for the URL, but for TINKER_API_KEY'),
  /** What it is: servers differ where the protocol leaves it open. */
  kind: ServerKind.default('tinker'),
  /** A folder with the model's config.json, tokenizer.json and chat template, or its GGUF file. Default: what the model names. */
  folder: z.string().exactOptional(),
  /** How far its log-probabilities may be from those of its trainer. Default: what the server tells, else as float32 does. */
  agreement: z.number().positive().exactOptional(),
})
export type TinkerServer = z.infer<typeof TinkerServer>
