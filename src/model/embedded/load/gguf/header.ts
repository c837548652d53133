import { GgufCursor } from './cursor.ts'
import { type ElementType, elementType } from './element-type.ts'
import { MalformedGgufError } from './malformed-gguf-error.ts'
import { type GgufMetadata, readMetadata } from './metadata.ts'
import { quoted } from './quoted.ts'

/** A tensor of the file. */
export interface GgufTensor {
  /** Row-major: the last dimension is the one that lies together. (The file states them the other way round.) */
  readonly shape: readonly number[]
  readonly type: ElementType
  /** Its bytes in the file. */
  readonly begin: number
  readonly end: number
}

/** What stands before the tensors' bytes. */
export interface GgufHeader {
  readonly metadata: GgufMetadata
  readonly tensors: ReadonlyMap<string, GgufTensor>
}

/** The header must end within so many bytes; those of the largest vocabularies take 10 MB. */
export const maxHeaderBytes = 64 * 1024 * 1024

const magic = 'GGUF'
/** Version 1 has other widths, and went out of use within weeks. */
const versions = [2, 3]
const maxTensors = 100_000
const maxDimensions = 4
const defaultAlignment = 32

/**
 * Reads the header of a GGUF file (github.com/ggml-org/ggml, docs/gguf.md), versions 2 and 3, little-endian. The package
 * `@huggingface/gguf` (0.4.6) reads a header that is cut off as zeros, and does not look where tensors lie.
 * @param bytes the file, or its first {@link maxHeaderBytes}.
 * @param fileBytes how long the file is.
 * @throws MalformedGgufError for anything that breaks the format's rules: tensors that lie beyond the end, overlap, or are
 * not aligned too.
 * @throws UnsupportedQuantizationError for a tensor that cannot be read.
 */
export function readHeader(bytes: Uint8Array, fileBytes: number): GgufHeader {
  const cursor = new GgufCursor(bytes, bytes.length === fileBytes)
  checkMagic(cursor)
  const tensorCount = cursor.count('the number of tensors', maxTensors)
  const metadata = readMetadata(cursor, cursor.number('u64', 'the number of metadata entries'))
  const alignment = alignmentOf(metadata)
  const stated = new Map<string, Stated>()
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.text(`the name of tensor ${i + 1}`)
    if (stated.has(name)) throw new MalformedGgufError(`it holds the tensor ${quoted(name)} twice`)
    stated.set(name, readStated(cursor, name))
  }
  const dataBegin = Math.ceil(cursor.position / alignment) * alignment
  const tensors = new Map([...stated].map(([name, tensor]) => [name, placed(name, tensor, { dataBegin, alignment })]))
  checkPlaces(tensors, fileBytes)
  return { metadata, tensors }
}

function checkMagic(cursor: GgufCursor): void {
  const found = String.fromCharCode(...Array.from({ length: 4 }, () => cursor.number('u8', 'its first four bytes')))
  if (found !== magic) throw new MalformedGgufError(`it begins with ${JSON.stringify(found)} and not with "${magic}"`)
  const version = cursor.number('u32', 'its version')
  if (versions.includes(version)) return
  throw new MalformedGgufError(
    version > 0 && version % 0x10000 === 0
      ? 'it is big-endian, and only little-endian files are read'
      : `it is of version ${version}, and versions ${versions.join(' and ')} are read`,
  )
}

function alignmentOf(metadata: GgufMetadata): number {
  const alignment = metadata.get('general.alignment') ?? defaultAlignment
  const usable = typeof alignment === 'number' && Number.isInteger(Math.log2(alignment)) && alignment <= 2 ** 20
  if (usable && alignment >= 1) return alignment
  throw new MalformedGgufError('its "general.alignment" is not a power of two up to 1,048,576')
}

/** A tensor as the header states it. */
interface Stated {
  readonly shape: readonly number[]
  readonly type: ElementType
  readonly offset: number
}

function readStated(cursor: GgufCursor, name: string): Stated {
  const what = `of tensor ${quoted(name)}`
  const dimensions = cursor.number('u32', `the number of dimensions ${what}`)
  if (dimensions < 1 || dimensions > maxDimensions)
    throw new MalformedGgufError(
      `tensor ${quoted(name)} claims ${dimensions} dimensions, and 1 to ${maxDimensions} are allowed`,
    )
  const sizes = Array.from({ length: dimensions }, () => cursor.number('u64', `a dimension ${what}`))
  const type = elementType(quoted(name), cursor.number('u32', `the type ${what}`))
  return { shape: sizes.toReversed(), type, offset: cursor.number('u64', `the offset ${what}`) }
}

function placed(
  name: string,
  { shape, type, offset }: Stated,
  { dataBegin, alignment }: { readonly dataBegin: number; readonly alignment: number },
): GgufTensor {
  const elements = shape.reduce((product, size) => product * size, 1)
  if (elements < 1 || !Number.isSafeInteger(elements * type.bytes))
    throw new MalformedGgufError(
      `tensor ${quoted(name)} has the shape [${shape.join(', ')}], which holds nothing or too much`,
    )
  if ((shape.at(-1) ?? 0) % type.elements !== 0)
    throw new MalformedGgufError(
      `rows of tensor ${quoted(name)} hold ${shape.at(-1)} numbers, and its blocks ${type.elements} each`,
    )
  if (offset % alignment !== 0)
    throw new MalformedGgufError(`tensor ${quoted(name)} begins at ${offset}, which is no multiple of ${alignment}`)
  const begin = dataBegin + offset
  return { shape, type, begin, end: begin + (elements / type.elements) * type.bytes }
}

/** Tensors lie within the file, and no byte belongs to two: what they unpack to is bounded by the file's size. */
function checkPlaces(tensors: ReadonlyMap<string, GgufTensor>, fileBytes: number): void {
  let taken = 0
  for (const [name, { begin, end }] of [...tensors].toSorted(([, a], [, b]) => a.begin - b.begin)) {
    const where = `tensor ${quoted(name)} (bytes ${begin} to ${end})`
    if (end > fileBytes)
      throw new MalformedGgufError(`${where} lies beyond the end of the file, which is at ${fileBytes}`)
    if (begin < taken) throw new MalformedGgufError(`${where} overlaps the one before it`)
    taken = end
  }
}
