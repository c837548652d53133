/**
 * The part of the ONNX intermediate representation that Ratchet writes, as plain data. Field meanings are those of
 * onnx.proto; see `write.ts` for the bytes.
 */

/** Element types of tensors that the engine uses. */
export type Dtype = 'float32' | 'float16' | 'int64' | 'int32' | 'uint8' | 'int8' | 'bool'

/** A size, or the name of a size that is known only when the graph runs. */
export type Dimension = number | string

/** An attribute, tagged with its ONNX type: a JavaScript number alone does not say int or float. */
export type Attribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly string: string }
  | { readonly ints: readonly number[] }
  | { readonly floats: readonly number[] }

export interface OnnxNode {
  readonly operator: string
  /** '' is the ONNX standard; `com.microsoft` holds ONNX Runtime's own operators. */
  readonly domain: string
  /** Names of values; '' leaves an optional input out. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes: Readonly<Record<string, Attribute>>
}

/** A tensor stored in the model: `data` holds the little-endian elements, row-major. */
export interface OnnxInitializer {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly data: Uint8Array
}

/** A name with its type and shape: at the graph's border, or between two nodes. */
export interface OnnxValue {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly Dimension[]
}

export interface OnnxGraph {
  readonly name: string
  readonly nodes: readonly OnnxNode[]
  readonly initializers: readonly OnnxInitializer[]
  readonly inputs: readonly OnnxValue[]
  readonly outputs: readonly OnnxValue[]
  /**
   * What nodes hand to each other. ONNX Runtime plans memory by these shapes: a value takes the place of a dead one of the
   * same shape, and is computed in place where it can be. Where it finds no shape by itself, it needs one told.
   */
  readonly between: readonly OnnxValue[]
}
