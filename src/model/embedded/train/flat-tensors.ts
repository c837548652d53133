import { InvariantError, present } from '../../../errors/index.ts'

/**
 * Named tensors that share one array, in a fixed order: the optimizer runs one loop over all of them, and moving them
 * between threads is one transfer.
 */
export class FlatTensors {
  readonly values: Float32Array
  readonly shapes: ReadonlyMap<string, readonly number[]>
  readonly #offsets = new Map<string, { readonly begin: number; readonly end: number }>()

  /** `values` is used, not copied; without it the tensors are zero. */
  constructor(shapes: ReadonlyMap<string, readonly number[]>, values?: Float32Array) {
    let total = 0
    for (const [name, shape] of shapes) {
      const begin = total
      total += shape.reduce((product, size) => product * size, 1)
      this.#offsets.set(name, { begin, end: total })
    }
    if (values !== undefined && values.length !== total) {
      throw new InvariantError(`${values.length} values for tensors of ${total} elements`)
    }
    this.shapes = shapes
    this.values = values ?? new Float32Array(total)
  }

  /** One tensor's elements: a view, not a copy. */
  view(name: string): Float32Array {
    const { begin, end } = present(this.#offsets.get(name), `tensor ${name}`)
    return this.values.subarray(begin, end)
  }

  /** Every tensor's view, in order. */
  views(): Map<string, Float32Array> {
    return new Map([...this.shapes.keys()].map((name) => [name, this.view(name)]))
  }
}

/** Copies of the named tensors in one array, in the order of `shapes`. */
export function flatten(
  shapes: ReadonlyMap<string, readonly number[]>,
  tensors: ReadonlyMap<string, Float32Array>,
): Float32Array {
  const flat = new FlatTensors(shapes)
  for (const name of shapes.keys()) {
    const source = present(tensors.get(name), `tensor ${name}`)
    const view = flat.view(name)
    if (source.length !== view.length) {
      throw new InvariantError(`tensor ${name} has ${source.length} elements, and its shape needs ${view.length}`)
    }
    view.set(source)
  }
  return flat.values
}
