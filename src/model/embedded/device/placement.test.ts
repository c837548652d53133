import { describe, expect, it } from 'vitest'
import { checkPlacement, placementOf } from './placement.ts'

const node = (op_name: string, provider: string, output: 'float' | 'int64') => ({
  cat: 'Node',
  name: op_name,
  args: { op_name, provider, output_type_shape: [{ [output]: [2, 2] }] },
})
const [cuda, cpu] = ['CUDAExecutionProvider', 'CPUExecutionProvider']
const read = (...nodes: readonly unknown[]) =>
  placementOf(JSON.stringify([{ cat: 'Session', name: 'model_run', args: {} }, ...nodes]))

describe('what a profile says of a run', () => {
  it('counts operators by place, and leaves the arithmetic of shapes out', () => {
    const placement = read(node('Gemm', cuda, 'float'), node('Gemm', cuda, 'float'), node('Shape', cpu, 'int64'))
    expect(placement).toEqual({ onDevice: new Map([['Gemm', 2]]), onProcessor: new Map() })
    expect(checkPlacement('cuda', placement)).toEqual([])
  })

  it('names floats that were computed on the processor', () => {
    expect(checkPlacement('cuda', read(node('Gemm', cuda, 'float'), node('Softmax', cpu, 'float')))).toEqual([
      'Softmax',
    ])
  })

  it.each(['MatMul', 'Gemm', 'FusedMatMul'])('refuses %s on the processor', (operator) => {
    const placement = read(node('Add', cuda, 'float'), node(operator, cpu, 'float'))
    expect(() => checkPlacement('cuda', placement)).toThrow(expect.objectContaining({ code: 'model/device-not-used' }))
  })

  it('refuses a run of which nothing was on the device', () => {
    const placement = read(node('Add', cpu, 'float'))
    expect(() => checkPlacement('webgpu', placement)).toThrow(
      expect.objectContaining({ code: 'model/device-not-used' }),
    )
  })
})
