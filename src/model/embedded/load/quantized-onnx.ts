import { MalformedOnnxError } from './malformed-onnx-error.ts'
import type { OnnxGraph, OnnxNode, OnnxTensor } from './onnx.ts'

/**
 * Recovers f32 weights from a Llama that was exported to ONNX and dynamically quantised to 8 bits, one scale and zero
 * point a matrix: w = scale · (q − zero point). The module path that names a node is its parameter's Hugging Face name:
 * `/model/layers.0/self_attn/q_proj/MatMul_quant` → `model.layers.0.self_attn.q_proj.weight`.
 */

/** A recovered parameter, row-major; matrices are `[out, in]`. */
export interface RecoveredTensor {
  readonly shape: readonly number[]
  readonly data: Float32Array
}

/**
 * Every parameter of the graph by Hugging Face name: linear layers, the embedding, and the norms, which are not quantised.
 * @throws MalformedOnnxError when a quantised product's scale or zero point cannot be found.
 */
export function recoverWeights(graph: OnnxGraph): Map<string, RecoveredTensor> {
  const weights = new Map<string, RecoveredTensor>()
  const links = linkValues(graph.nodes)
  for (const node of graph.nodes) {
    if (node.operator === 'MatMulInteger') weights.set(parameterName(node), recoverLinear(graph, links, node))
    else if (node.operator === 'DequantizeLinear') {
      const [name, embedding] = recoverEmbedding(graph, links, node)
      weights.set(name, embedding)
    }
  }
  for (const { name, shape, values } of graph.initializers.values())
    if (values instanceof Float32Array && name.endsWith('norm.weight')) weights.set(name, { shape, data: values })
  return weights
}

/** Who makes a value and who reads it. */
interface Links {
  readonly producer: ReadonlyMap<string, OnnxNode>
  readonly readers: ReadonlyMap<string, readonly OnnxNode[]>
}

function linkValues(nodes: readonly OnnxNode[]): Links {
  const producer = new Map<string, OnnxNode>()
  const readers = new Map<string, OnnxNode[]>()
  for (const node of nodes) {
    for (const output of node.outputs) producer.set(output, node)
    for (const input of node.inputs) {
      const found = readers.get(input)
      if (found) found.push(node)
      else readers.set(input, [node])
    }
  }
  return { producer, readers }
}

const parameterName = ({ name }: OnnxNode): string =>
  `${name
    .replace(/^\//, '')
    .replace(/\/MatMul[^/]*$/, '')
    .replaceAll('/', '.')}.weight`

/** `MatMulInteger(x, W, zero point of x, zero point of W)`, stored `[in, out]`. */
function recoverLinear(graph: OnnxGraph, links: Links, node: OnnxNode): RecoveredTensor {
  const [, matrix, , zeroPoint] = node.inputs
  const quantised = initializer(graph, node, matrix, 'weight')
  const [rows, columns] = quantised.shape
  if (quantised.shape.length !== 2 || rows === undefined || columns === undefined)
    throw new MalformedOnnxError(`${node.name} multiplies by ${quantised.name}, which is not a matrix.`)
  const scale = scalar(linearScale(graph, links, node))
  const zero = scalar(initializer(graph, node, zeroPoint, 'zero point'))
  return { shape: [columns, rows], data: transpose(dequantise(integers(quantised), scale, zero), rows, columns) }
}

/** The product is rescaled as `Mul(Cast(product), Mul(scale of x, scale of W))`: the constant among the scales is W's. */
function linearScale(graph: OnnxGraph, links: Links, node: OnnxNode): OnnxTensor {
  const cast = onlyReader(links, node, 'Cast')
  const rescale = onlyReader(links, cast, 'Mul')
  const scales = rescale.inputs
    .map((input) => links.producer.get(input))
    .find((producer) => producer?.operator === 'Mul')
  const scale = scales?.inputs.map((input) => graph.initializers.get(input)).find((found) => found !== undefined)
  if (scale === undefined) throw new MalformedOnnxError(`the weight scale of ${node.name} cannot be found.`)
  return scale
}

/** `DequantizeLinear(Gather(W, ids), scale, zero point)`, stored `[vocabulary, hidden]`. */
function recoverEmbedding(graph: OnnxGraph, links: Links, node: OnnxNode): [string, RecoveredTensor] {
  const [gathered, scaleName, zeroName] = node.inputs
  const gather = links.producer.get(gathered ?? '')
  if (gather?.operator !== 'Gather') throw new MalformedOnnxError(`${node.name} does not dequantise a gathered row.`)
  const quantised = initializer(graph, gather, gather.inputs[0], 'weight')
  const scale = scalar(initializer(graph, node, scaleName, 'scale'))
  const zero = scalar(initializer(graph, node, zeroName, 'zero point'))
  return [
    quantised.name.replace(/_quantized$/, ''),
    { shape: quantised.shape, data: dequantise(integers(quantised), scale, zero) },
  ]
}

function dequantise(quantised: Uint8Array | Int8Array, scale: number, zero: number): Float32Array {
  const data = new Float32Array(quantised.length)
  for (let i = 0; i < data.length; i++) data[i] = scale * ((quantised[i] as number) - zero)
  return data
}

function transpose(matrix: Float32Array, rows: number, columns: number): Float32Array {
  const transposed = new Float32Array(matrix.length)
  for (let column = 0; column < columns; column++)
    for (let row = 0; row < rows; row++) transposed[column * rows + row] = matrix[row * columns + column] as number
  return transposed
}

function initializer(graph: OnnxGraph, node: OnnxNode, name: string | undefined, what: string): OnnxTensor {
  const tensor = graph.initializers.get(name ?? '')
  if (tensor === undefined) throw new MalformedOnnxError(`the ${what} of ${node.name} is not a constant.`)
  return tensor
}

function onlyReader({ readers }: Links, node: OnnxNode, operator: string): OnnxNode {
  const found = node.outputs.flatMap((output) => readers.get(output) ?? [])
  if (found.length !== 1 || found[0]?.operator !== operator)
    throw new MalformedOnnxError(`${node.name} is not followed by exactly one ${operator}.`)
  return found[0]
}

function integers({ name, values }: OnnxTensor): Uint8Array | Int8Array {
  if (values instanceof Uint8Array || values instanceof Int8Array) return values
  throw new MalformedOnnxError(`${name} is not an 8-bit tensor.`)
}

function scalar({ name, values }: OnnxTensor): number {
  const value = values?.[0]
  if (value === undefined || values?.length !== 1)
    throw new MalformedOnnxError(`${name} is not one number: only one scale a matrix is understood.`)
  return value
}
