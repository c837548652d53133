import type { Saved } from '../../../core/index.ts'
import { InputError } from '../../../errors/index.ts'

/** @throws InputError for weights or a state that another trainer keeps at its server. */
export function bytesOf(saved: Saved): Uint8Array {
  if (saved instanceof Uint8Array) return saved
  throw new InputError({
    code: 'model/kept-elsewhere',
    message: `The embedded engine cannot read ${saved.uri.slice(0, 200)}: a trainer's server keeps it.`,
    hint: 'Use the model service that made it, or export the adapter from its server and import it.',
  })
}
