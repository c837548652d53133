/** A matrix `[out, in]` in 8 bits: row r is scales[r] · its elements, which are −127 to 127. */
export interface RoundedMatrix {
  readonly elements: Int8Array
  readonly scales: Float32Array
}

const most = 127
/** Rows of smaller steps are zeros: floats near their least are too coarse to divide by. */
const least = 1e-30

/** Rounds a matrix row by row: the greatest of a row becomes 127 or −127. */
export function roundedMatrix(matrix: Float32Array, [out, width]: readonly [number, number]): RoundedMatrix {
  const elements = new Int8Array(matrix.length)
  const scales = new Float32Array(out)
  for (let row = 0; row < out; row++) {
    const values = matrix.subarray(row * width, (row + 1) * width)
    const scale = Math.fround(values.reduce((greatest, value) => Math.max(greatest, Math.abs(value)), 0) / most)
    if (scale < least) continue
    scales[row] = scale
    for (let i = 0; i < width; i++) elements[row * width + i] = Math.round((values[i] as number) / scale)
  }
  return { elements, scales }
}

/** The rows of matrices of one width, one below the other. */
export function stackedRounded(matrices: readonly RoundedMatrix[]): RoundedMatrix {
  const [only] = matrices
  if (only !== undefined && matrices.length === 1) return only
  const count = (of: 'elements' | 'scales') => matrices.reduce((sum, matrix) => sum + matrix[of].length, 0)
  const elements = new Int8Array(count('elements'))
  const scales = new Float32Array(count('scales'))
  let [element, scale] = [0, 0]
  for (const matrix of matrices) {
    elements.set(matrix.elements, element)
    scales.set(matrix.scales, scale)
    element += matrix.elements.length
    scale += matrix.scales.length
  }
  return { elements, scales }
}

/** The elements as `[in, out]`. */
export function turned({ elements, scales }: RoundedMatrix): Int8Array {
  const out = scales.length
  const width = elements.length / out
  const result = new Int8Array(elements.length)
  for (let row = 0; row < out; row++)
    for (let i = 0; i < width; i++) result[i * out + row] = elements[row * width + i] as number
  return result
}
