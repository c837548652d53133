import type { Safetensors } from './safetensors.ts'

/** Files of Ratchet are safetensors: this entry of their metadata says, as JSON, what they hold. */
const entry = 'ratchet'

/** The metadata of a file that this describes. */
export const describedBy = (description: object): Readonly<Record<string, string>> => ({
  [entry]: JSON.stringify(description),
})

/** What a file says of itself: not checked. `undefined` where it says nothing, or no JSON. */
export function descriptionIn({ metadata }: Pick<Safetensors, 'metadata'>): unknown {
  try {
    return JSON.parse(metadata[entry] ?? '')
  } catch {
    return undefined
  }
}
