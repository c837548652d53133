import { PbfReader } from 'pbf'
import { requestError } from '../errors.ts'
import type { PassBody, RawDatum, RawTensor } from './pass.ts'

/*
 * `ForwardBackwardRequest` of `tinker_public.proto`, with the field numbers of the official Python SDK 0.38.0. Numbers lie
 * in byte strings, little-endian.
 */

const dtype = { float32: 1, int64: 2 } as const

/** Reads the protobuf body of a pass. @throws TrainerRequestError 400 that names the field, for bytes that are none. */
export function readPassBody(bytes: Uint8Array): PassBody {
  const read = { modelId: '', seqId: 0, forwardOnly: false, loss: '' }
  const data: RawDatum[] = []
  const [config, config2]: Record<string, number>[] = [{}, {}]
  try {
    const pbf = new PbfReader(bytes)
    pbf.readFields((tag) => {
      if (tag === 1) read.modelId = pbf.readString()
      else if (tag === 2) read.seqId = readSeq(pbf)
      else if (tag === 3) data.push(readDatum(pbf, data.length))
      else if (tag === 4) read.loss = pbf.readString()
      else if (tag === 5)
        Object.assign(
          config ?? {},
          readConfig(pbf, (inner) => inner.readDouble()),
        )
      else if (tag === 6) read.forwardOnly = pbf.readBoolean()
      else if (tag === 7) Object.assign(config2 ?? {}, readConfig(pbf, readNumber))
    }, null)
    if (pbf.pos !== bytes.length) throw new Error(`a field ends at byte ${pbf.pos} of ${bytes.length}`)
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) throw cause
    throw requestError(
      'not-protobuf',
      `The request's body is no ForwardBackwardRequest: ${(cause as Error).message.slice(0, 200)}.`,
      'Send the protobuf message of tinker_public.proto, or JSON with content-type application/json.',
    )
  }
  const { seqId, ...rest } = read
  return { ...rest, seqId: seqId === 0 ? null : seqId, data, config: { ...config, ...config2 } }
}

function readSeq(pbf: PbfReader): number {
  const seq = pbf.readVarint()
  if (Number.isSafeInteger(seq)) return seq
  throw requestError('invalid-request', `The request's seq_id: ${seq} is too large.`, 'Number requests from 1 on.', {
    field: 'seq_id',
  })
}

function readDatum(pbf: PbfReader, index: number): RawDatum {
  const input: number[] = []
  const tensors = new Map<string, RawTensor>()
  pbf.readMessage((tag) => {
    if (tag === 1) input.push(...readChunk(pbf, index))
    if (tag === 2) {
      let [name, tensor]: [string, RawTensor] = ['', { values: [], shape: [0] }]
      pbf.readMessage((part) => {
        if (part === 1) name = pbf.readString()
        if (part === 2) tensor = readTensor(pbf, `data.${index}.loss_fn_inputs.${name}`)
      }, null)
      tensors.set(name, tensor)
    }
  }, null)
  return { input, tensors }
}

function readChunk(pbf: PbfReader, index: number): readonly number[] {
  let tokens: readonly number[] | null = null
  const field = `data.${index}.model_input.chunks`
  pbf.readMessage((tag) => {
    if (tag !== 1) return
    pbf.readMessage((part) => {
      if (part === 1) tokens = [...new Int32Array(aligned(pbf.readBytes(), 4, field))]
    }, null)
    tokens ??= []
  }, null)
  if (tokens !== null) return tokens
  throw requestError(
    'not-text',
    `${field} holds what is no text.`,
    'Send chunks of tokens: these models read text only.',
    {
      field,
    },
  )
}

function readTensor(pbf: PbfReader, field: string): RawTensor {
  let [bytes, type, sparse] = [new Uint8Array(), 0, false]
  const shape: number[] = []
  pbf.readMessage((tag) => {
    if (tag === 1) bytes = new Uint8Array(pbf.readBytes())
    else if (tag === 2) sparse = true
    else if (tag === 3) type = pbf.readVarint()
    else if (tag === 4) pbf.readPackedVarint(shape)
  }, null)
  if (sparse || (type !== dtype.float32 && type !== dtype.int64)) {
    const found = sparse ? 'sparse' : `of the dtype ${type}`
    throw requestError('wrong-dtype', `${field} is ${found}.`, 'Send a dense tensor of float32 or int64.', { field })
  }
  const values =
    type === dtype.float32
      ? [...new Float32Array(aligned(bytes, 4, field))]
      : [...new BigInt64Array(aligned(bytes, 8, field))].map(Number)
  return { values, shape: shape.length === 0 ? [values.length] : shape }
}

function readConfig(pbf: PbfReader, read: (pbf: PbfReader) => number): Record<string, number> {
  let [key, value] = ['', 0]
  pbf.readMessage((tag) => {
    if (tag === 1) key = pbf.readString()
    if (tag === 2) value = read(pbf)
  }, null)
  return { [key]: value }
}

/** `LossConfigValue`; a text is no setting that any loss here has. */
function readNumber(pbf: PbfReader): number {
  let value = Number.NaN
  pbf.readMessage((tag) => {
    if (tag === 1) value = pbf.readDouble()
  }, null)
  if (!Number.isNaN(value)) return value
  throw requestError('wrong-config', 'A value of loss_fn_config is no number.', 'Give numbers.', {
    field: 'loss_fn_config',
  })
}

/** A copy that begins where typed arrays may. */
function aligned(bytes: Uint8Array, size: number, what: string): ArrayBuffer {
  if (bytes.length % size !== 0) throw new Error(`${what} has ${bytes.length} bytes, no multiple of ${size}`)
  return new Uint8Array(bytes).buffer
}
