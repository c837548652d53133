import { PbfWriter } from 'pbf'
import type { Attribute, Dimension, Dtype, OnnxGraph, OnnxInitializer, OnnxNode, OnnxValue } from './model.ts'

/** ONNX IR 10 goes with opset 21, which every ONNX Runtime since 1.18 reads. */
const irVersion = 10
const opsets = { '': 21, 'com.microsoft': 1 }

/** TensorProto.DataType */
const dataTypes: Record<Dtype, number> = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 }

/** Encodes a graph as the bytes of an ONNX model file. The numbers are the field numbers of onnx.proto. */
export function writeOnnx(graph: OnnxGraph): Uint8Array {
  const pbf = new PbfWriter()
  pbf.writeVarintField(1, irVersion)
  pbf.writeStringField(2, 'ratchet')
  pbf.writeMessage(7, writeGraph, graph)
  for (const [domain, version] of Object.entries(opsets)) pbf.writeMessage(8, writeOpset, { domain, version })
  return pbf.finish()
}

function writeOpset({ domain, version }: { domain: string; version: number }, pbf: PbfWriter): void {
  pbf.writeStringField(1, domain)
  pbf.writeVarintField(2, version)
}

function writeGraph(graph: OnnxGraph, pbf: PbfWriter): void {
  for (const node of graph.nodes) pbf.writeMessage(1, writeNode, node)
  pbf.writeStringField(2, graph.name)
  for (const initializer of graph.initializers) pbf.writeMessage(5, writeInitializer, initializer)
  for (const input of graph.inputs) pbf.writeMessage(11, writeValue, input)
  for (const output of graph.outputs) pbf.writeMessage(12, writeValue, output)
  for (const value of graph.between) pbf.writeMessage(13, writeValue, value)
}

function writeNode(node: OnnxNode, pbf: PbfWriter): void {
  for (const input of node.inputs) pbf.writeStringField(1, input)
  for (const output of node.outputs) pbf.writeStringField(2, output)
  pbf.writeStringField(4, node.operator)
  for (const attribute of Object.entries(node.attributes)) pbf.writeMessage(5, writeAttribute, attribute)
  pbf.writeStringField(7, node.domain)
}

function writeAttribute([name, value]: [string, Attribute], pbf: PbfWriter): void {
  const type = (code: number) => pbf.writeVarintField(20, code)
  pbf.writeStringField(1, name)
  if ('float' in value) {
    pbf.writeFloatField(2, value.float)
    type(1)
  } else if ('int' in value) {
    pbf.writeVarintField(3, value.int)
    type(2)
  } else if ('string' in value) {
    pbf.writeStringField(4, value.string)
    type(3)
  } else if ('floats' in value) {
    for (const float of value.floats) pbf.writeFloatField(7, float)
    type(6)
  } else {
    for (const int of value.ints) pbf.writeVarintField(8, int)
    type(7)
  }
}

function writeInitializer({ name, dtype, shape, data }: OnnxInitializer, pbf: PbfWriter): void {
  for (const size of shape) pbf.writeVarintField(1, size)
  pbf.writeVarintField(2, dataTypes[dtype])
  pbf.writeStringField(8, name)
  pbf.writeBytesField(9, data)
}

function writeValue({ name, dtype, shape }: OnnxValue, pbf: PbfWriter): void {
  pbf.writeStringField(1, name)
  pbf.writeMessage(2, writeType, { dtype, shape })
}

type TensorType = Pick<OnnxValue, 'dtype' | 'shape'>

function writeType(type: TensorType, pbf: PbfWriter): void {
  pbf.writeMessage(1, writeTensorType, type)
}

function writeTensorType({ dtype, shape }: TensorType, pbf: PbfWriter): void {
  pbf.writeVarintField(1, dataTypes[dtype])
  pbf.writeMessage(2, writeShape, shape)
}

function writeShape(shape: readonly Dimension[], pbf: PbfWriter): void {
  for (const dimension of shape) pbf.writeMessage(1, writeDimension, dimension)
}

function writeDimension(dimension: Dimension, pbf: PbfWriter): void {
  if (typeof dimension === 'number') pbf.writeVarintField(1, dimension)
  else pbf.writeStringField(2, dimension)
}
