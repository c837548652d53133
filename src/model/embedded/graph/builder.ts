import { InvariantError } from '../../../errors/index.ts'
import type { Attribute, Dimension, Dtype, OnnxGraph, OnnxInitializer, OnnxNode, OnnxValue } from '../onnx/model.ts'
import { writeOnnx } from '../onnx/write.ts'

export type { Attribute, Dimension, Dtype } from '../onnx/model.ts'

/** A tensor in a graph under construction: what a node, an input or a constant produces. */
export interface Value<D extends Dtype = Dtype> {
  readonly graph: GraphBuilder
  readonly name: string
  readonly dtype: D
  readonly shape: readonly Dimension[]
}

export type Float = Value<'float32'>
export type Integer = Value<'int64'>

/** Options of a node: `domain` defaults to the ONNX standard. */
export interface NodeOptions {
  readonly domain?: '' | 'com.microsoft'
  readonly attributes?: Readonly<Record<string, Attribute>>
}

/**
 * The backward half of an operation. Given the gradient of the operation's output it returns one thunk for each of its
 * recorded inputs; a thunk appends the nodes of that input's gradient. Only thunks whose gradient is asked for run.
 */
export type Rule = (gradient: Float) => readonly (() => Float)[]

/** One differentiable operation as it was recorded. */
export interface TapeEntry {
  readonly output: Float
  readonly inputs: readonly Float[]
  readonly rule: Rule
}

/** What the graph may be made of. */
export interface GraphOptions {
  /**
   * Whether products may transpose and scale while they read (`FusedMatMul` of ONNX Runtime). Default true; WebGPU does not
   * have that operator.
   */
  readonly fusedProducts?: boolean
  /**
   * Whether attention keeps its shares for the way back, rather than compute them again: faster, and the memory for it grows
   * with the square of the length. The results are the same, bit for bit. Default false.
   */
  readonly keepsShares?: boolean
}

type Elements = Float32Array | BigInt64Array | Int32Array | Uint8Array | Int8Array | Uint16Array

/**
 * Builds one ONNX graph, node by node. Operations live in `graph/ops/`: each is a function that appends its forward
 * nodes and records how to append its backward nodes; `gradients` (graph/gradients.ts) plays the record in reverse.
 * Shapes are tracked, with named dimensions for sizes that vary from run to run, so that a wrong graph fails when it
 * is built and says where.
 */
export class GraphBuilder {
  readonly name: string
  readonly fusedProducts: boolean
  readonly keepsShares: boolean
  readonly tape: TapeEntry[] = []
  readonly #nodes: OnnxNode[] = []
  readonly #initializers: OnnxInitializer[] = []
  readonly #inputs: OnnxValue[] = []
  readonly #outputs = new Map<string, Value>()
  readonly #shared = new Map<string, Value>()
  readonly #between: OnnxValue[] = []
  #values = 0

  constructor(name: string, { fusedProducts = true, keepsShares = false }: GraphOptions = {}) {
    this.name = name
    this.fusedProducts = fusedProducts
    this.keepsShares = keepsShares
  }

  /** Declares a tensor that every run feeds. */
  input<D extends Dtype>(name: string, dtype: D, shape: readonly Dimension[]): Value<D> {
    this.#inputs.push({ name, dtype, shape })
    return { graph: this, name, dtype, shape }
  }

  /** A tensor stored in the model. */
  initializer<D extends Dtype>(name: string, dtype: D, shape: readonly number[], elements: Elements): Value<D> {
    const data = new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength)
    this.#initializers.push({ name, dtype, shape, data })
    return { graph: this, name, dtype, shape }
  }

  /** A float32 scalar; equal scalars are stored once. */
  scalar(value: number): Float {
    return this.once(`scalar ${value}`, () =>
      this.initializer(this.#freshName(), 'float32', [], Float32Array.of(value)),
    )
  }

  /** An int64 scalar; equal scalars are stored once. */
  integer(value: number): Integer {
    return this.once(`integer ${value}`, () =>
      this.initializer(this.#freshName(), 'int64', [], BigInt64Array.of(BigInt(value))),
    )
  }

  /** An int64 vector, as shapes, axes and slices are given; equal vectors are stored once. */
  integers(values: readonly number[]): Integer {
    return this.once(`integers ${values.join(' ')}`, () =>
      this.initializer(this.#freshName(), 'int64', [values.length], BigInt64Array.from(values.map(BigInt))),
    )
  }

  /** Appends a node with one output. `null` leaves an optional input out. */
  node<D extends Dtype>(
    operator: string,
    inputs: readonly (Value | null)[],
    dtype: D,
    shape: readonly Dimension[],
    options: NodeOptions = {},
  ): Value<D> {
    const output = this.#fresh(dtype, shape)
    this.#append(operator, inputs, [output], options)
    return output
  }

  /** Appends a node with several outputs, in the order of `outputs`. */
  nodeWithOutputs(
    operator: string,
    inputs: readonly (Value | null)[],
    outputs: readonly { readonly dtype: Dtype; readonly shape: readonly Dimension[] }[],
    options: NodeOptions = {},
  ): readonly Value[] {
    const values = outputs.map(({ dtype, shape }) => this.#fresh(dtype, shape))
    this.#append(operator, inputs, values, options)
    return values
  }

  /** Records a differentiable operation: `rule` yields one gradient thunk for each of `inputs`. Returns `output`. */
  record(output: Float, inputs: readonly Float[], rule: Rule): Float {
    this.tape.push({ output, inputs, rule })
    return output
  }

  /** Makes `value` a result of every run, under `name`. */
  output(name: string, value: Value): void {
    if (this.#outputs.has(name)) throw new InvariantError(`graph ${this.name} already has an output ${name}`)
    this.#outputs.set(name, value)
  }

  /** Whether an input has this named dimension, so that {@link size} can read it. */
  hasSize(dimension: string): boolean {
    return this.#inputs.some(({ shape }) => shape.includes(dimension))
  }

  /** The size of a named dimension as an int64 vector of one, read from an input that has it. */
  size(dimension: string): Integer {
    return this.once(`size ${dimension}`, () => {
      for (const { name, dtype, shape } of this.#inputs) {
        const axis = shape.indexOf(dimension)
        if (axis < 0) continue
        const attributes = { start: { int: axis }, end: { int: axis + 1 } }
        return this.node('Shape', [{ graph: this, name, dtype, shape }], 'int64', [1], { attributes })
      }
      throw new InvariantError(`no input of graph ${this.name} has the dimension ${dimension}`)
    })
  }

  /** Names of the inputs a run must feed, in order of declaration. */
  get inputNames(): readonly string[] {
    return this.#inputs.map(({ name }) => name)
  }

  /** A value that is made the first time that it is asked for by this key, and shared from then on. */
  once<V extends Value>(key: string, make: () => V): V {
    const known = this.#shared.get(key) ?? make()
    this.#shared.set(key, known)
    return known as V
  }

  /** The graph as plain data. Outputs get their names through Identity nodes, which ONNX Runtime removes. */
  toOnnx(): OnnxGraph {
    const outputs = [...this.#outputs].map(([name, { dtype, shape }]) => ({ name, dtype, shape }))
    const naming = [...this.#outputs].map(([name, value]) => onnxNode('Identity', [value.name], [name]))
    return {
      name: this.name,
      nodes: [...this.#nodes, ...naming],
      initializers: this.#initializers,
      inputs: this.#inputs,
      outputs,
      between: this.#between,
    }
  }

  /** The bytes of the ONNX model, as `InferenceSession.create` takes them. */
  build(): Uint8Array {
    return writeOnnx(this.toOnnx())
  }

  #append(operator: string, inputs: readonly (Value | null)[], outputs: readonly Value[], options: NodeOptions): void {
    for (const input of inputs) {
      if (input !== null && input.graph !== this) {
        throw new InvariantError(
          `${operator} in graph ${this.name} was given ${input.name} of graph ${input.graph.name}`,
        )
      }
    }
    this.#nodes.push(
      onnxNode(
        operator,
        inputs.map((input) => input?.name ?? ''),
        outputs.map(({ name }) => name),
        options,
      ),
    )
  }

  #fresh<D extends Dtype>(dtype: D, shape: readonly Dimension[]): Value<D> {
    const name = this.#freshName()
    this.#between.push({ name, dtype, shape })
    return { graph: this, name, dtype, shape }
  }

  #freshName(): string {
    return `%${this.#values++}`
  }
}

function onnxNode(
  operator: string,
  inputs: readonly string[],
  outputs: readonly string[],
  { domain = '', attributes = {} }: NodeOptions = {},
): OnnxNode {
  return { operator, domain, inputs, outputs, attributes }
}
