import { PbfReader } from 'pbf'
import { MalformedOnnxError } from './malformed-onnx-error.ts'

/**
 * Reads the parts of an ONNX model that weights are recovered from: the graph's nodes and its initializers.
 * Field numbers are those of `onnx.proto3` (ONNX 1.x).
 */

/** One operation. Inputs and outputs are value names; an optional input that is absent is the empty string. */
export interface OnnxNode {
  readonly name: string
  readonly operator: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
}

/** Element types that weights, scales and zero points come in. */
export type OnnxElement = 'float32' | 'uint8' | 'int8' | 'other'

/** A constant tensor. `values` is null for element types other than the three named ones. */
export interface OnnxTensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly element: OnnxElement
  readonly values: Float32Array | Uint8Array | Int8Array | null
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[]
  readonly initializers: ReadonlyMap<string, OnnxTensor>
}

/**
 * Parses a serialised ModelProto whose tensors lie in the file itself.
 * @throws MalformedOnnxError when the bytes are not one.
 */
export function readOnnx(bytes: Uint8Array): OnnxGraph {
  const nodes: OnnxNode[] = []
  const initializers = new Map<string, OnnxTensor>()
  let graphs = 0
  try {
    const pbf = new PbfReader(bytes)
    pbf.readFields((tag) => {
      if (tag !== modelField.graph) return
      graphs++
      pbf.readMessage((graphTag) => {
        if (graphTag === graphField.node) nodes.push(readNode(pbf))
        else if (graphTag === graphField.initializer) {
          const tensor = readTensor(pbf)
          initializers.set(tensor.name, tensor)
        }
      }, null)
    }, null)
    if (pbf.pos !== bytes.length) throw new MalformedOnnxError(`a field ends at byte ${pbf.pos} of ${bytes.length}.`)
  } catch (error) {
    if (error instanceof MalformedOnnxError) throw error
    throw new MalformedOnnxError('its bytes are not a protobuf message.', error)
  }
  if (graphs !== 1) throw new MalformedOnnxError(`it holds ${graphs} graphs.`)
  return { nodes, initializers }
}

const modelField = { graph: 7 } as const
const graphField = { node: 1, initializer: 5 } as const
const nodeField = { input: 1, output: 2, name: 3, operator: 4 } as const
const tensorField = { dims: 1, dataType: 2, floatData: 4, int32Data: 5, name: 8, rawData: 9 } as const
const elementOf = new Map<number, OnnxElement>([
  [1, 'float32'],
  [2, 'uint8'],
  [3, 'int8'],
])
const varint = 0

function readNode(pbf: PbfReader): OnnxNode {
  const node = { name: '', operator: '', inputs: [] as string[], outputs: [] as string[] }
  pbf.readMessage((tag) => {
    if (tag === nodeField.input) node.inputs.push(pbf.readString())
    else if (tag === nodeField.output) node.outputs.push(pbf.readString())
    else if (tag === nodeField.name) node.name = pbf.readString()
    else if (tag === nodeField.operator) node.operator = pbf.readString()
  }, null)
  return node
}

function readTensor(pbf: PbfReader): OnnxTensor {
  let name = ''
  let dataType = 0
  let raw: Uint8Array | null = null
  const shape: number[] = []
  const floats: number[] = []
  const integers: number[] = []
  pbf.readMessage((tag) => {
    if (tag === tensorField.dims) readIntegers(pbf, shape)
    else if (tag === tensorField.dataType) dataType = pbf.readVarint()
    else if (tag === tensorField.floatData) pbf.readPackedFloat(floats)
    else if (tag === tensorField.int32Data) readIntegers(pbf, integers)
    else if (tag === tensorField.name) name = pbf.readString()
    else if (tag === tensorField.rawData) raw = pbf.readBytes()
  }, null)
  const element = elementOf.get(dataType) ?? 'other'
  const values = elementValues(element, raw, floats, integers)
  const expected = shape.reduce((product, size) => product * size, 1)
  if (values !== null && values.length !== expected)
    throw new MalformedOnnxError(`tensor ${name} of shape [${shape.join(', ')}] holds ${values.length} values.`)
  return { name, shape, element, values }
}

/** Repeated integers arrive packed or one a field. */
function readIntegers(pbf: PbfReader, into: number[]): void {
  if (pbf.type === varint) into.push(pbf.readVarint(true))
  else pbf.readPackedVarint(into, true)
}

function elementValues(
  element: OnnxElement,
  raw: Uint8Array | null,
  floats: readonly number[],
  integers: readonly number[],
): OnnxTensor['values'] {
  switch (element) {
    case 'float32':
      return raw === null ? Float32Array.from(floats) : new Float32Array(new Uint8Array(raw).buffer)
    case 'uint8':
      return raw === null ? Uint8Array.from(integers) : new Uint8Array(raw)
    case 'int8':
      return raw === null ? Int8Array.from(integers) : new Int8Array(new Uint8Array(raw).buffer)
    case 'other':
      return null
  }
}
