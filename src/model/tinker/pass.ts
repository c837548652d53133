/** Per-token losses as the protocol names them. */
export type TinkerLoss = 'cross_entropy' | 'importance_sampling' | 'ppo' | 'cispo'

/** One sequence of a pass; all arrays are as long as `input`. Targets are shifted already, as in our own `Datum`. */
export interface PassDatum {
  readonly input: readonly number[]
  readonly target: readonly number[]
  readonly floats: Readonly<Partial<Record<'weights' | 'logprobs' | 'advantages', readonly number[]>>>
}

/** One `forward_backward` of a model, or one `forward`. */
export interface Pass {
  readonly modelId: string
  /** With the model's id, this names the request: a server answers a repeated one and works once. */
  readonly seqId: number
  readonly data: readonly PassDatum[]
  readonly loss: TinkerLoss
  readonly config: Readonly<Record<string, number>>
  /** Nothing is accumulated. */
  readonly forwardOnly: boolean
}

/** What a pass answers, from either wire format: for each datum the log-probability of each target. */
export interface PassOutput {
  readonly logprobs: readonly ArrayLike<number>[]
}

/** What a sample answers, from either wire format. */
export interface SampleOutput {
  readonly sequences: readonly {
    readonly tokens: ArrayLike<number>
    readonly logprobs: ArrayLike<number>
    readonly stopReason: 'stop' | 'length'
  }[]
}
