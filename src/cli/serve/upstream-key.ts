import { InputError } from '../../errors/index.ts'
import type { UpstreamConfig } from '../../gateway/index.ts'

/**
 * The key that an upstream names; `null`: it names none.
 * @throws InputError (`input/missing-upstream-key`) for one that is not set.
 */
export function keyOf(
  { name, keyEnv, server }: Pick<UpstreamConfig, 'name' | 'keyEnv' | 'server'>,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  const key = keyEnv === undefined ? null : (env[keyEnv]?.trim() ?? '')
  if (key !== '') return key
  const other = server ? 'use TINKER_API_KEY' : "forward the client's own Authorization"
  throw new InputError({
    code: 'input/missing-upstream-key',
    message: `The upstream "${name}" takes its key from ${keyEnv}, which is not set.`,
    hint: `Set ${keyEnv}, or remove keyEnv to ${other}.`,
  })
}
