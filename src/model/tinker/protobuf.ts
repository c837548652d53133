import { PbfReader, PbfWriter } from 'pbf'
import type { Pass, PassDatum, PassOutput, SampleOutput } from './pass.ts'

/**
 * The messages that newer Tinker servers want and answer as protobuf: bodies of passes, and results of passes and samples.
 * Field numbers are those of `tinker_public.proto` in the official Python SDK 0.25.0. Numbers lie in byte strings,
 * little-endian.
 */

/** The type of such bodies. */
export const protobufType = 'application/x-protobuf'

/** `DType`: BFLOAT16 is the upper half of a FLOAT32. */
const dtype = { float32: 1, int64: 2, bfloat16: 4 } as const

/** `ForwardBackwardRequest`. */
export function passProtobuf({ modelId, seqId, data, loss, config, forwardOnly }: Pass): Uint8Array {
  const pbf = new PbfWriter()
  pbf.writeStringField(1, modelId)
  pbf.writeVarintField(2, seqId)
  for (const datum of data) pbf.writeMessage(3, writeDatum, datum)
  pbf.writeStringField(4, loss)
  for (const entry of Object.entries(config)) pbf.writeMessage(5, writeConfigEntry, entry)
  if (forwardOnly) pbf.writeBooleanField(6, true)
  return pbf.finish()
}

function writeDatum({ input, target, floats }: PassDatum, pbf: PbfWriter): void {
  pbf.writeMessage(1, writeChunk, input)
  pbf.writeMessage(2, writeInput, { name: 'target_tokens', type: dtype.int64, bytes: int64Bytes(target) })
  for (const [name, values] of Object.entries(floats)) {
    pbf.writeMessage(2, writeInput, { name, type: dtype.float32, bytes: bytesOf(Float32Array.from(values)) })
  }
}

interface NamedTensor {
  readonly name: string
  readonly type: number
  readonly bytes: Uint8Array
}

const writeChunk = (tokens: readonly number[], pbf: PbfWriter): void => pbf.writeMessage(1, writeTokens, tokens)

const writeTokens = (tokens: readonly number[], pbf: PbfWriter): void =>
  pbf.writeBytesField(1, bytesOf(Int32Array.from(tokens)))

function writeInput(tensor: NamedTensor, pbf: PbfWriter): void {
  pbf.writeStringField(1, tensor.name)
  pbf.writeMessage(2, writeTensor, tensor)
}

function writeTensor({ type, bytes }: NamedTensor, pbf: PbfWriter): void {
  pbf.writeBytesField(1, bytes)
  pbf.writeVarintField(3, type)
  pbf.writePackedVarint(4, [bytes.length / (type === dtype.int64 ? 8 : 4)])
}

function writeConfigEntry([key, value]: [string, number], pbf: PbfWriter): void {
  pbf.writeStringField(1, key)
  pbf.writeDoubleField(2, value)
}

/** `SampleResponse`. @throws Error that names the field, for bytes that are none. */
export function readSample(bytes: Uint8Array): SampleOutput {
  const sequences: SampleOutput['sequences'][number][] = []
  read(bytes, (tag, pbf) => {
    if (tag !== 1) return
    let [stop, tokens, logprobs]: [number, Uint8Array, Uint8Array] = [0, nothing, nothing]
    pbf.readMessage((field) => {
      if (field === 1) stop = pbf.readVarint()
      if (field === 2) tokens = pbf.readBytes()
      if (field === 3) logprobs = pbf.readBytes()
    }, null)
    if (stop > 1) throw new Error(`sequences[${sequences.length}].stop_reason is ${stop}`)
    const what = `sequences[${sequences.length}]`
    sequences.push({
      tokens: new Int32Array(aligned(tokens, 4, `${what}.tokens`)),
      logprobs: new Float32Array(aligned(logprobs, 4, `${what}.logprobs`)),
      stopReason: stop === 0 ? 'stop' : 'length',
    })
  })
  return { sequences }
}

/** `ForwardBackwardOutput`; its records follow each other. @throws Error that names the field, for bytes that are none. */
export function readPass(bytes: Uint8Array): PassOutput {
  const logprobs: Float32Array[] = []
  read(bytes, (tag, pbf) => {
    if (tag !== 2) return
    pbf.readMessage((field) => {
      if (field !== 2) return
      let [name, tensor]: [string, Batched] = ['', emptyBatch]
      pbf.readMessage((part) => {
        if (part === 1) name = pbf.readString()
        if (part === 2) tensor = readBatched(pbf)
      }, null)
      if (name === 'logprobs') logprobs.push(...sliced(tensor))
    }, null)
  })
  return { logprobs }
}

/** `BatchedTensor`: the arrays of all data behind one another, and the byte at which each begins. */
interface Batched {
  readonly data: Uint8Array
  readonly offsets: Uint8Array
  readonly type: number
}

const nothing = new Uint8Array()
const emptyBatch: Batched = { data: nothing, offsets: nothing, type: dtype.float32 }

function readBatched(pbf: PbfReader): Batched {
  let [data, offsets, type] = [nothing as Uint8Array, nothing as Uint8Array, 0]
  pbf.readMessage((field) => {
    if (field === 1) data = pbf.readBytes()
    if (field === 2) offsets = pbf.readBytes()
    if (field === 3) type = pbf.readVarint()
  }, null)
  return { data, offsets, type }
}

function sliced({ data, offsets, type }: Batched): Float32Array[] {
  if (type !== dtype.float32 && type !== dtype.bfloat16) throw new Error(`logprobs has the dtype ${type}`)
  const size = type === dtype.float32 ? 4 : 2
  const ends = [...new BigInt64Array(aligned(offsets, 8, 'logprobs.offsets'))].map(Number)
  return ends.slice(1).map((end, i) => {
    const begin = ends[i] ?? 0
    if (!(begin >= 0 && begin <= end && end <= data.length)) {
      throw new Error(`logprobs.offsets[${i + 1}] is ${end}, after ${begin}, of ${data.length} bytes`)
    }
    const bytes = aligned(data.subarray(begin, end), size, `logprobs[${i}]`)
    return size === 4 ? new Float32Array(bytes) : widened(new Uint16Array(bytes))
  })
}

const widened = (halves: Uint16Array): Float32Array =>
  new Float32Array(Uint32Array.from(halves, (half) => half * 65_536).buffer)

function read(bytes: Uint8Array, field: (tag: number, pbf: PbfReader) => void): void {
  const pbf = new PbfReader(bytes)
  pbf.readFields((tag) => field(tag, pbf), null)
  if (pbf.pos !== bytes.length) throw new Error(`a field ends at byte ${pbf.pos} of ${bytes.length}`)
}

/** A copy that begins where typed arrays may. */
function aligned(bytes: Uint8Array, size: number, what: string): ArrayBuffer {
  if (bytes.length % size !== 0) throw new Error(`${what} has ${bytes.length} bytes, no multiple of ${size}`)
  return new Uint8Array(bytes).buffer
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const int64Bytes = (values: readonly number[]): Uint8Array =>
  new Uint8Array(BigInt64Array.from(values, (value) => BigInt(value)).buffer)
