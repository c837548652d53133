import type { GridShape } from './grid.ts'

/** One forward-backward pass over some trees, as plain data; see `transformer/training-graph.ts` for the meaning. */
export interface PackedBatch {
  readonly shape: GridShape
  readonly tokens: BigInt64Array
  readonly positions: BigInt64Array
  readonly keys: BigInt64Array
  readonly mask: Float32Array
  readonly rows: BigInt64Array
  readonly targets: BigInt64Array
  readonly weights: Float32Array
  readonly oldLogprobs: Float32Array
  readonly advantages: Float32Array
  /** What an auxiliary head should say at each row; absent where no row has any. */
  readonly auxiliary?: {
    /** `[rows, outputs]`; 0 where the weight is. */
    readonly targets: Float32Array
    /** `[rows]`. */
    readonly weights: Float32Array
  }
  /** 1 + the deepest position. */
  readonly depth: number
}

/** Which datum and position each row of a batch came from; stays with the caller. The datum of a row that is auxiliary alone is −1. */
export interface RowOrigin {
  readonly datum: Int32Array
  readonly position: Int32Array
}
