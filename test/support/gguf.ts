/** Writes small GGUF files (version 3) for tests: what `load/gguf` reads, from the other side. */

/** A typed value of the metadata. */
export type MadeValue =
  | { readonly u32: number }
  | { readonly f32: number }
  | { readonly u64: bigint }
  | { readonly bool: boolean }
  | { readonly text: string }
  | { readonly texts: readonly string[] }
  | { readonly i32s: readonly number[] }
  | { readonly f32s: readonly number[] }

/** A tensor: row-major shape, ggml's type number, bytes. */
export interface MadeTensor {
  readonly shape: readonly number[]
  readonly type: number
  readonly bytes: Uint8Array
}

export interface MadeGguf {
  readonly metadata: Readonly<Record<string, MadeValue>>
  readonly tensors: Readonly<Record<string, MadeTensor>>
}

const alignment = 32

export function writeGguf({ metadata, tensors }: MadeGguf): Uint8Array {
  const head = new Writer()
  head.raw(new TextEncoder().encode('GGUF'))
  head.u32(3)
  head.u64(Object.keys(tensors).length)
  head.u64(Object.keys(metadata).length)
  for (const [key, value] of Object.entries(metadata)) {
    head.text(key)
    writeValue(head, value)
  }
  let offset = 0
  for (const [name, { shape, type, bytes }] of Object.entries(tensors)) {
    head.text(name)
    head.u32(shape.length)
    for (const size of shape.toReversed()) head.u64(size)
    head.u32(type)
    head.u64(offset)
    offset = aligned(offset + bytes.length)
  }
  const data = new Writer()
  for (const { bytes } of Object.values(tensors)) {
    data.raw(bytes)
    data.pad()
  }
  head.pad()
  return Buffer.concat([head.bytes(), data.bytes()])
}

function writeValue(to: Writer, value: MadeValue): void {
  if ('u32' in value) return to.typed(4, () => to.u32(value.u32))
  if ('f32' in value) return to.typed(6, () => to.f32(value.f32))
  if ('u64' in value) return to.typed(10, () => to.u64(value.u64))
  if ('bool' in value) return to.typed(7, () => to.raw(Uint8Array.of(Number(value.bool))))
  if ('text' in value) return to.typed(8, () => to.text(value.text))
  if ('texts' in value) return to.list(8, value.texts, (text) => to.text(text))
  if ('i32s' in value) return to.list(5, value.i32s, (number) => to.i32(number))
  return to.list(6, value.f32s, (number) => to.f32(number))
}

const aligned = (length: number): number => Math.ceil(length / alignment) * alignment

class Writer {
  readonly #parts: Uint8Array[] = []
  #length = 0

  raw(bytes: Uint8Array): void {
    this.#parts.push(bytes)
    this.#length += bytes.length
  }

  u32(value: number): void {
    const part = Buffer.alloc(4)
    part.writeUInt32LE(value)
    this.raw(part)
  }

  i32(value: number): void {
    const part = Buffer.alloc(4)
    part.writeInt32LE(value)
    this.raw(part)
  }

  f32(value: number): void {
    const part = Buffer.alloc(4)
    part.writeFloatLE(value)
    this.raw(part)
  }

  u64(value: number | bigint): void {
    const part = Buffer.alloc(8)
    part.writeBigUInt64LE(BigInt(value))
    this.raw(part)
  }

  text(value: string): void {
    const bytes = new TextEncoder().encode(value)
    this.u64(bytes.length)
    this.raw(bytes)
  }

  typed(type: number, write: () => void): void {
    this.u32(type)
    write()
  }

  list<T>(type: number, values: readonly T[], write: (value: T) => void): void {
    this.u32(9)
    this.u32(type)
    this.u64(values.length)
    for (const value of values) write(value)
  }

  pad(): void {
    this.raw(new Uint8Array(aligned(this.#length) - this.#length))
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts)
  }
}
