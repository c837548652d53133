import { InputError } from '../../errors/index.ts'

/**
 * The base URL of an API.
 * @throws InputError when it is none, or holds a password: it is shown in logs.
 */
export function baseUrl(url: string, upstream: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new InputError({
      code: 'input/upstream-url',
      message: `The url of the upstream ${upstream} is no http or https URL.`,
      hint: 'Write the base URL of an OpenAI-compatible API, for example "http://127.0.0.1:8000/v1".',
    })
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new InputError({
      code: 'input/upstream-url',
      message: `The url of the upstream ${upstream} holds a user name or a password.`,
      hint: 'Leave them out, put the key into an environment variable, and name that as keyEnv.',
    })
  }
  return parsed
}

/**
 * A key without the white space that files and shells leave at its ends.
 * @throws InputError, without the key in it, for what cannot travel in a header.
 */
export function usableKey(key: string, upstream: string): string {
  const trimmed = key.trim()
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed
  const problem = trimmed === '' ? 'empty' : 'not printable ASCII without spaces'
  throw new InputError({
    code: 'input/upstream-key',
    message: `The key of the upstream ${upstream} is ${problem}.`,
    hint: 'Set the environment variable that its keyEnv names to the key alone.',
  })
}
