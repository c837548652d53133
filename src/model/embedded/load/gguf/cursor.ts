import { MalformedGgufError } from './malformed-gguf-error.ts'

/** Longest text: chat templates and token spellings are far below it. */
const maxTextBytes = 4 * 1024 * 1024

/** Reads a GGUF header's values one after another. Everything is little-endian, and nothing is trusted. */
export class GgufCursor {
  readonly #view: DataView
  readonly #bytes: Uint8Array
  readonly #wholeFile: boolean
  #position = 0

  /** @param wholeFile whether `bytes` are the file, or only its beginning. */
  constructor(bytes: Uint8Array, wholeFile: boolean) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#wholeFile = wholeFile
  }

  get position(): number {
    return this.#position
  }

  /** How many bytes are left. */
  get left(): number {
    return this.#bytes.length - this.#position
  }

  /** One number; `what` names it for a complaint. */
  number(read: NumberType, what: string): number {
    const at = this.#advance(numberBytes[read], what)
    switch (read) {
      case 'u8':
        return this.#view.getUint8(at)
      case 'i8':
        return this.#view.getInt8(at)
      case 'u16':
        return this.#view.getUint16(at, true)
      case 'i16':
        return this.#view.getInt16(at, true)
      case 'u32':
        return this.#view.getUint32(at, true)
      case 'i32':
        return this.#view.getInt32(at, true)
      case 'f32':
        return this.#view.getFloat32(at, true)
      case 'f64':
        return this.#view.getFloat64(at, true)
      case 'u64':
        return this.#safe(this.#view.getBigUint64(at, true), what)
      case 'i64':
        return this.#safe(this.#view.getBigInt64(at, true), what)
    }
  }

  /** A text: its length in bytes, then UTF-8. What is no UTF-8 becomes U+FFFD. */
  text(what: string): string {
    const length = this.count(`the length of ${what}`, maxTextBytes)
    const at = this.#advance(length, what)
    return utf8.decode(this.#bytes.subarray(at, at + length))
  }

  /** A 64-bit count that is at most `limit`. */
  count(what: string, limit: number): number {
    const value = this.number('u64', what)
    if (value > limit) throw new MalformedGgufError(`${what} is ${value}, and at most ${limit} is allowed`)
    return value
  }

  #safe(value: bigint, what: string): number {
    const number = Number(value)
    if (!Number.isSafeInteger(number)) throw new MalformedGgufError(`${what} is ${value}, which no file needs`)
    return number
  }

  /** Moves on; where it was. */
  #advance(bytes: number, what: string): number {
    const at = this.#position
    if (bytes > this.left)
      throw new MalformedGgufError(
        this.#wholeFile
          ? `it ends at byte ${this.#bytes.length}, within ${what}, which begins at byte ${at}`
          : `its header is longer than the ${this.#bytes.length} bytes that are allowed (it is within ${what})`,
      )
    this.#position = at + bytes
    return at
  }
}

export const numberBytes = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, f32: 4, u64: 8, i64: 8, f64: 8 } as const

export type NumberType = keyof typeof numberBytes

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
