export { builtEntry } from './built-entry.ts'
export { InputError } from './input-error.ts'
export { InvariantError, present } from './invariant-error.ts'
export { type ErrorDetails, RatchetError } from './ratchet-error.ts'
