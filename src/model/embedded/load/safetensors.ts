import { z } from 'zod'
import { InvariantError } from '../../../errors/index.ts'
import { MalformedSafetensorsError } from './malformed-safetensors-error.ts'

/**
 * Reader and writer of safetensors: an 8-byte little-endian header length, a JSON header, then the tensors' raw
 * little-endian bytes back to back. Nothing is trusted: a file that breaks the format's rules is refused whole.
 */

/** Bytes per element of each element type that the format knows. */
const elementBytes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
} as const

/** Element type of a stored tensor, under its safetensors name. */
export type Dtype = keyof typeof elementBytes

/** One stored tensor. `data` shares memory with the file's bytes, row-major, little-endian, `shape` × element size long. */
export interface StoredTensor {
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly data: Uint8Array
}

/** A whole file: tensors by name, and the free-form strings that the writer left beside them. */
export interface Safetensors {
  readonly tensors: Map<string, StoredTensor>
  readonly metadata: Readonly<Record<string, string>>
}

/** The reference implementation's limit on the JSON header. */
const maxHeaderBytes = 100_000_000
/** The header's length stands in so many bytes before it. */
export const lengthBytes = 8
const metadataKey = '__metadata__'

const count = z.int().nonnegative()
const Entry = z.strictObject({
  dtype: z.enum(Object.keys(elementBytes) as [Dtype, ...Dtype[]]),
  shape: z.array(count),
  data_offsets: z.tuple([count, count]),
})
const Metadata = z.record(z.string(), z.string())

/** Where a tensor lies in its file. */
export interface PlacedTensor extends Omit<StoredTensor, 'data'> {
  readonly begin: number
  readonly end: number
}

/** What the header of a file says. */
export interface SafetensorsLayout extends Pick<Safetensors, 'metadata'> {
  readonly tensors: ReadonlyMap<string, PlacedTensor>
}

/**
 * Reads a safetensors file held in memory. Tensor data are views, not copies.
 * @throws MalformedSafetensorsError for anything that is not a complete, well-formed file.
 */
export function readSafetensors(bytes: Uint8Array): Safetensors {
  const { tensors, metadata } = readLayout(bytes.subarray(lengthBytes, headerEnd(bytes, bytes.length)), bytes.length)
  const stored = [...tensors].map(([name, { dtype, shape, begin, end }]): [string, StoredTensor] => [
    name,
    { dtype, shape, data: bytes.subarray(begin, end) },
  ])
  return { tensors: new Map(stored), metadata }
}

/**
 * Where the header of a file ends; it begins after {@link lengthBytes}.
 * @param first the file's first bytes, {@link lengthBytes} of them where there are as many.
 * @param fileBytes how long the file is.
 * @throws MalformedSafetensorsError where no file of that length has such a header.
 */
export function headerEnd(first: Uint8Array, fileBytes: number): number {
  if (fileBytes < lengthBytes)
    throw new MalformedSafetensorsError(`it holds ${fileBytes} bytes, and the header length alone takes ${lengthBytes}`)
  const length = new DataView(first.buffer, first.byteOffset).getBigUint64(0, true)
  if (length > BigInt(maxHeaderBytes))
    throw new MalformedSafetensorsError(`its header claims ${length} bytes, and the format allows ${maxHeaderBytes}`)
  const end = lengthBytes + Number(length)
  if (end > fileBytes)
    throw new MalformedSafetensorsError(
      `its header claims bytes ${lengthBytes} to ${end}, and the file ends at ${fileBytes}`,
    )
  return end
}

/**
 * Reads a header.
 * @param header the bytes between {@link lengthBytes} and {@link headerEnd}.
 * @param fileBytes how long the file is.
 * @throws MalformedSafetensorsError for a header that is none, and for tensors that do not cover the rest of the file exactly.
 */
export function readLayout(header: Uint8Array, fileBytes: number): SafetensorsLayout {
  const bodyStart = lengthBytes + header.length
  const size = fileBytes - bodyStart
  const tensors = new Map<string, PlacedTensor>()
  const ranges: Range[] = []
  let metadata: Record<string, string> = {}
  for (const [name, value] of Object.entries(parsedHeader(header, bodyStart))) {
    if (name === metadataKey) metadata = checked(Metadata, value, 'its __metadata__')
    else {
      const entry = checked(Entry, value, `the header entry of tensor ${quote(name)}`)
      const [begin, end] = entry.data_offsets
      checkRange(name, entry, size)
      ranges.push({ name, begin, end })
      tensors.set(name, { dtype: entry.dtype, shape: entry.shape, begin: bodyStart + begin, end: bodyStart + end })
    }
  }
  checkCoverage(ranges, size)
  return { tensors, metadata }
}

/**
 * Writes f32 and i32 tensors, in the map's order; equal input gives equal bytes. The header is padded so that data stay aligned.
 * @throws InvariantError when a shape disagrees with its data.
 */
export function writeSafetensors(
  tensors: ReadonlyMap<string, { readonly shape: readonly number[]; readonly data: Float32Array | Int32Array }>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const entries: [string, unknown][] = Object.keys(metadata).length > 0 ? [[metadataKey, metadata]] : []
  let offset = 0
  for (const [name, { shape, data }] of tensors) {
    if (name === metadataKey || elements(shape) !== data.length)
      throw new InvariantError(
        `tensor ${quote(name)} of shape [${shape.join(', ')}] cannot be written with ${data.length} elements`,
      )
    const dtype = data instanceof Float32Array ? 'F32' : 'I32'
    entries.push([name, { dtype, shape, data_offsets: [offset, offset + data.byteLength] }])
    offset += data.byteLength
  }
  const json = new TextEncoder().encode(
    `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
  )
  const headerLength = Math.ceil(json.length / lengthBytes) * lengthBytes
  const bytes = new Uint8Array(lengthBytes + headerLength + offset)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(headerLength), true)
  bytes.fill(0x20, lengthBytes, lengthBytes + headerLength)
  bytes.set(json, lengthBytes)
  let position = lengthBytes + headerLength
  for (const { data } of tensors.values()) {
    bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), position)
    position += data.byteLength
  }
  return bytes
}

function parsedHeader(bytes: Uint8Array, end: number): object {
  let header: unknown
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new MalformedSafetensorsError(`its header (bytes ${lengthBytes} to ${end}) is not JSON`, { cause })
  }
  if (typeof header !== 'object' || header === null || Array.isArray(header))
    throw new MalformedSafetensorsError(`its header (bytes ${lengthBytes} to ${end}) is not a JSON object`)
  return header
}

/** A tensor's bytes, relative to the end of the header. */
interface Range {
  readonly name: string
  readonly begin: number
  readonly end: number
}

/** One tensor's bytes lie inside the file and are as many as its shape needs. */
function checkRange(
  name: string,
  { dtype, shape, data_offsets: [begin, end] }: z.infer<typeof Entry>,
  size: number,
): void {
  const where = `tensor ${quote(name)} (bytes ${begin} to ${end})`
  if (begin > end) throw new MalformedSafetensorsError(`${where} ends before it begins`)
  if (end > size) throw new MalformedSafetensorsError(`${where} lies beyond the data, which end at ${size}`)
  const needed = elements(shape) * elementBytes[dtype]
  if (needed !== end - begin)
    throw new MalformedSafetensorsError(
      `${where} holds ${end - begin} bytes, and ${dtype} [${shape.join(', ')}] needs ${needed}`,
    )
}

/** Tensors cover the data exactly: no byte belongs to two of them or to none. */
function checkCoverage(ranges: readonly Range[], size: number): void {
  let covered = 0
  for (const { name, begin, end } of ranges.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < covered)
      throw new MalformedSafetensorsError(`tensor ${quote(name)} (bytes ${begin} to ${end}) overlaps the one before it`)
    if (begin > covered)
      throw new MalformedSafetensorsError(
        `bytes ${covered} to ${begin}, before tensor ${quote(name)}, belong to no tensor`,
      )
    covered = end
  }
  if (covered !== size) throw new MalformedSafetensorsError(`bytes ${covered} to ${size} belong to no tensor`)
}

function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new MalformedSafetensorsError(`${what} is wrong: ${z.prettifyError(result.error).replaceAll('\n', ' ')}`)
}

const elements = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1)

/** A tensor's name for a message: hostile names are escaped and kept short. */
const quote = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)
