/** How large an encoder is. */
export interface Shape {
  /** Numbers of a step. */
  readonly inputs: number
  /** Units of the hidden layer; 0: there is none. */
  readonly hidden: number
  /** Numbers of a vector. */
  readonly dimensions: number
}

/** Steps of a window, standardised, one after the other. */
export type Steps = Float64Array

/** What an encoder made of a window, with all that its slope needs. */
export interface Encoded {
  readonly steps: Steps
  /** What each hidden unit said of each step. */
  readonly active: Float64Array
  readonly pooled: Float64Array
  /** The length of the vector before it was divided by it. */
  readonly length: number
  readonly unit: Float64Array
}

/** Numbers that are pooled over the steps of a window. */
export const innerOf = ({ inputs, hidden }: Shape): number => (hidden === 0 ? inputs : hidden)

/** The vector of a window, of length 1, by these parameters: rows of hidden units, then rows of the vector's numbers, each ending with its bias. */
export function encoded(at: Float64Array, shape: Shape, steps: Steps): Encoded {
  const { inputs, hidden, dimensions } = shape
  const inner = innerOf(shape)
  const count = steps.length / inputs
  const active = hidden === 0 ? steps : new Float64Array(count * hidden)
  const pooled = new Float64Array(inner)
  for (let t = 0; t < count; t++) {
    for (let h = 0; h < hidden; h++) {
      const row = h * (inputs + 1)
      let sum = at[row + inputs] ?? 0
      for (let j = 0; j < inputs; j++) sum += (at[row + j] ?? 0) * (steps[t * inputs + j] ?? 0)
      active[t * hidden + h] = Math.tanh(sum)
    }
    for (let h = 0; h < inner; h++) pooled[h] = (pooled[h] ?? 0) + (active[t * inner + h] ?? 0) / count
  }
  const outer = hidden * (inputs + 1)
  const unit = new Float64Array(dimensions)
  let squares = 0
  for (let k = 0; k < dimensions; k++) {
    const row = outer + k * (inner + 1)
    let sum = at[row + inner] ?? 0
    for (let h = 0; h < inner; h++) sum += (at[row + h] ?? 0) * (pooled[h] ?? 0)
    unit[k] = sum
    squares += sum * sum
  }
  const length = Math.sqrt(squares)
  if (length > 0) for (let k = 0; k < dimensions; k++) unit[k] = (unit[k] ?? 0) / length
  return { steps, active, pooled, length, unit }
}

/** Adds to `gradient` what a slope in the numbers of a window's vector, from place `from` on, means for each parameter. */
export function addSlope(
  gradient: Float64Array,
  at: Float64Array,
  shape: Shape,
  { steps, active, pooled, length, unit }: Encoded,
  slope: Float64Array,
  from: number,
): void {
  if (length === 0) return
  const { inputs, hidden, dimensions } = shape
  const inner = innerOf(shape)
  const outer = hidden * (inputs + 1)
  // Through the division by the length: only what is across the vector moves it.
  let along = 0
  for (let k = 0; k < dimensions; k++) along += (slope[from + k] ?? 0) * (unit[k] ?? 0)
  const back = new Float64Array(inner)
  for (let k = 0; k < dimensions; k++) {
    const across = ((slope[from + k] ?? 0) - along * (unit[k] ?? 0)) / length
    const row = outer + k * (inner + 1)
    for (let h = 0; h < inner; h++) {
      gradient[row + h] = (gradient[row + h] ?? 0) + across * (pooled[h] ?? 0)
      back[h] = (back[h] ?? 0) + across * (at[row + h] ?? 0)
    }
    gradient[row + inner] = (gradient[row + inner] ?? 0) + across
  }
  const count = steps.length / inputs
  for (let t = 0; t < count; t++) {
    for (let h = 0; h < hidden; h++) {
      const on = active[t * hidden + h] ?? 0
      const push = ((back[h] ?? 0) * (1 - on * on)) / count
      const row = h * (inputs + 1)
      for (let j = 0; j < inputs; j++)
        gradient[row + j] = (gradient[row + j] ?? 0) + push * (steps[t * inputs + j] ?? 0)
      gradient[row + inputs] = (gradient[row + inputs] ?? 0) + push
    }
  }
}
