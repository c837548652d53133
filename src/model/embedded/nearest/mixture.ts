/** The entries nearest to one state, nearest first. */
export interface Neighbours {
  /** Squared Euclidean distances. */
  readonly distances: Float64Array
  /** The token that followed each. */
  readonly tokens: Int32Array
}

/** How the neighbours' tokens are mixed with the model's distribution; see `NearestParams`. */
export interface MixParams {
  /** λ, in [0, 1]. */
  readonly weight: number
  /** k, ≥ 1: the first k of the neighbours count. */
  readonly neighbours: number
  /** T, above 0. */
  readonly temperature: number
}

/**
 * p_kNN: for each token that followed one of the k nearest entries, its share of Σ exp(−d / T). Tokens in the order of their
 * nearest entry; the shares sum to 1. Khandelwal et al. 2019, equation 2.
 */
export function neighbourShares(
  { distances, tokens }: Neighbours,
  { neighbours, temperature }: Pick<MixParams, 'neighbours' | 'temperature'>,
): ReadonlyMap<number, number> {
  const shares = new Map<number, number>()
  const count = Math.min(neighbours, distances.length)
  const nearest = distances[0] ?? 0
  let sum = 0
  for (let i = 0; i < count; i++) {
    // From the nearest on, so that far states do not underflow to nothing: the factor cancels.
    const weight = Math.exp((nearest - (distances[i] as number)) / temperature)
    const token = tokens[i] as number
    shares.set(token, (shares.get(token) ?? 0) + weight)
    sum += weight
  }
  for (const [token, weight] of shares) shares.set(token, weight / sum)
  return shares
}

/**
 * The mixture's log-probabilities of given tokens. Token i follows a context whose nearest entries are `neighbours[i]`, and
 * to which the model gives `logprobs[i]`. A token that neither gives a chance has −∞.
 */
export function mixtureLogprobs(
  tokens: ArrayLike<number>,
  logprobs: ArrayLike<number>,
  neighbours: readonly Neighbours[],
  params: MixParams,
): Float64Array {
  const { weight } = params
  return Float64Array.from(neighbours, (near, i) => {
    const logprob = logprobs[i] as number
    if (weight === 0) return logprob
    const share = neighbourShares(near, params).get(tokens[i] as number) ?? 0
    return Math.log(weight * share + (1 - weight) * Math.exp(logprob))
  })
}
