import { createHash } from 'node:crypto'

/** SHA-256 of named arrays, in the order of their names, and of a description, in hexadecimal. */
export function fingerprint(tensors: ReadonlyMap<string, Float32Array | Int8Array>, description = ''): string {
  const hash = createHash('sha256').update(description)
  for (const name of [...tensors.keys()].sort()) {
    const data = tensors.get(name) ?? new Float32Array()
    hash
      .update(JSON.stringify([name, data.length]))
      .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
  }
  return hash.digest('hex')
}
