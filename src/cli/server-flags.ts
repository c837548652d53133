import type { z } from 'zod'
import { InputError } from '../errors/index.ts'
import type { ServerKind, TinkerServer } from '../model/tinker/index.ts'

/** Flags that name a Tinker server, of `ratchet learn` and `ratchet serve` alike. */
export interface ServerFlags {
  /** The root of the server. */
  readonly server?: string
  /** What it is. */
  readonly serverKind?: ServerKind
  /** A folder here with the model's config.json, tokenizer.json and chat template, or its GGUF file. */
  readonly serverFolder?: string
}

/**
 * The server that flags name; `undefined` for none.
 * @throws InputError (`input/no-server`) for flags about a server that none names.
 */
export function serverOf({ server, serverKind, serverFolder }: ServerFlags): z.input<typeof TinkerServer> | undefined {
  const about = {
    ...(serverKind !== undefined && { kind: serverKind }),
    ...(serverFolder !== undefined && { folder: serverFolder }),
  }
  if (server !== undefined) return { url: server, ...about }
  const [name] = Object.keys(about)
  if (name === undefined) return undefined
  throw new InputError({
    code: 'input/no-server',
    message: `--server-${name} is about a Tinker server, and there is no --server.`,
    hint: `Give --server URL too, or leave --server-${name} out. In a configuration it is "${name}" of "server".`,
  })
}
