import type { Json } from '../../core/index.ts'

const isPointer = (pointer: string): boolean => pointer === '' || /^(?:\/(?:[^~]|~[01])*)$/.test(pointer)

/** The keys that a JSON pointer names (RFC 6901); `null` where it is none. */
export function pointerKeys(pointer: string): readonly string[] | null {
  if (!isPointer(pointer)) return null
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What stands at a path; `undefined` where nothing does. Of an object only its own keys count. */
export function valueAt(value: Json, keys: readonly string[]): Json | undefined {
  let here: Json | undefined = value
  for (const key of keys) {
    if (here === null || typeof here !== 'object' || !Object.hasOwn(here, key)) return undefined
    here = Object.entries(here).find(([name]) => name === key)?.[1]
  }
  return here
}
