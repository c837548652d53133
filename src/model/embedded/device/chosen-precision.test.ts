import { describe, expect, it } from 'vitest'
import { hasExactBytes } from '../../../../test/support/exact-bytes.ts'
import { chosenPrecision } from './chosen-precision.ts'

describe('chosenPrecision', () => {
  it('is what was asked for by name, on every device', async () => {
    expect(await chosenPrecision('float32', 'cpu')).toBe('float32')
    expect(await chosenPrecision('int8', 'cpu')).toBe('int8')
    expect(await chosenPrecision('int8', 'cuda')).toBe('int8')
  })

  it('is 8 bits by itself only where the processor multiplies them exactly', async () => {
    expect(await chosenPrecision('auto', 'cpu')).toBe(hasExactBytes ? 'int8' : 'float32')
    expect(await chosenPrecision('auto', 'cuda')).toBe('float32')
  })
})
