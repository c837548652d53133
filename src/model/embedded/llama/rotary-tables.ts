/**
 * Cosines and sines of the rotary angles: row p, column i holds the angle p · θ^(−2i / headDim); each table is
 * `[positions, headDim / 2]`, row-major. Angles are computed in float64 and rounded once.
 */
export function rotaryTables(
  positions: number,
  { headDim, ropeTheta }: { readonly headDim: number; readonly ropeTheta: number },
): { readonly cos: Float32Array; readonly sin: Float32Array } {
  const half = headDim / 2
  const cos = new Float32Array(positions * half)
  const sin = new Float32Array(positions * half)
  for (let column = 0; column < half; column++) {
    const frequency = ropeTheta ** ((-2 * column) / headDim)
    for (let position = 0; position < positions; position++) {
      cos[position * half + column] = Math.cos(position * frequency)
      sin[position * half + column] = Math.sin(position * frequency)
    }
  }
  return { cos, sin }
}
