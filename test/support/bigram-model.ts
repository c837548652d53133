import { uniform } from '../../src/model/embedded/sampling/uniform.ts'

interface Tensor {
  readonly data: readonly number[]
}

export interface Pass {
  readonly data: readonly {
    readonly model_input: { readonly chunks: readonly { readonly tokens: readonly number[] }[] }
    readonly loss_fn_inputs: Readonly<Partial<Record<string, Tensor>>>
  }[]
  readonly loss_fn: string
  readonly loss_fn_config?: Readonly<Record<string, number>>
}

export interface SampleBody {
  readonly sampling_session_id: string
  readonly num_samples: number
  readonly prompt: { readonly chunks: readonly { readonly tokens: readonly number[] }[] }
  readonly sampling_params: {
    readonly max_tokens: number
    readonly seed: number
    readonly temperature: number
    readonly stop?: readonly (number | string)[]
  }
}

/** How a server adds losses up; `sequence-mean` is SkyRL's JAX backend. */
export type Reduction = 'sum' | 'sequence-mean'

/** A language model of one table: the logits of the next token are a row of it. */
export class BigramModel {
  readonly #reduction: Reduction
  #sequences = 0
  readonly #size: number
  readonly #weights: Float64Array
  readonly #gradient: Float64Array
  readonly #m: Float64Array
  readonly #v: Float64Array
  #steps = 0

  constructor(size: number, reduction: Reduction) {
    this.#size = size
    this.#reduction = reduction
    const entries = size * size
    this.#weights = Float64Array.from({ length: entries }, (_, i) => 0.4 * (uniform(7, i) - 0.5))
    this.#gradient = new Float64Array(entries)
    this.#m = new Float64Array(entries)
    this.#v = new Float64Array(entries)
  }

  copy(): BigramModel {
    const copy = new BigramModel(this.#size, this.#reduction)
    copy.become(this, true)
    return copy
  }

  /** Takes the other's weights, and its optimizer or a new one. */
  become(other: BigramModel, optimizer: boolean): void {
    this.#weights.set(other.#weights)
    if (!optimizer) return
    this.#m.set(other.#m)
    this.#v.set(other.#v)
    this.#steps = other.#steps
  }

  /** Log-probabilities of the targets; with `backward` their gradient is accumulated. */
  pass({ data, loss_fn, loss_fn_config = {} }: Pass, backward: boolean) {
    if (backward) this.#sequences += data.length
    const outputs = data.map(({ model_input, loss_fn_inputs }) => {
      const input = model_input.chunks.flatMap(({ tokens }) => tokens)
      const at = (name: string, t: number, otherwise: number) => loss_fn_inputs[name]?.data[t] ?? otherwise
      const mass = input.reduce((sum, _, t) => sum + at('weights', t, 1), 0)
      const share = this.#reduction === 'sum' ? 1 : Math.max(mass, 1e-9)
      const logprobs = input.map((token, t) => {
        const target = at('target_tokens', t, 0)
        const row = this.#logprobs(token)
        const logprob = row[target]!
        if (backward) {
          const given = { old: at('logprobs', t, 0), advantage: at('advantages', t, 0) }
          const slope = (-at('weights', t, 1) / share) * slopeOf(loss_fn, loss_fn_config, logprob, given)
          for (let i = 0; i < this.#size; i++) {
            this.#gradient[token * this.#size + i]! += slope * ((i === target ? 1 : 0) - Math.exp(row[i]!))
          }
        }
        return logprob
      })
      return { logprobs: { data: logprobs, dtype: 'float32', shape: [logprobs.length] } }
    })
    return { loss_fn_output_type: 'scalar', loss_fn_outputs: outputs, metrics: {} }
  }

  /** One step of Adam. @returns the gradient's norm. */
  step(p: { learning_rate: number; beta1: number; beta2: number; eps: number }): number {
    this.#steps++
    let squares = 0
    const count = this.#reduction === 'sum' ? 1 : Math.max(1, this.#sequences)
    this.#sequences = 0
    for (const [i, sum] of this.#gradient.entries()) {
      const g = sum / count
      squares += g * g
      this.#m[i] = p.beta1 * this.#m[i]! + (1 - p.beta1) * g
      this.#v[i] = p.beta2 * this.#v[i]! + (1 - p.beta2) * g * g
      const [m, v] = [this.#m[i]! / (1 - p.beta1 ** this.#steps), this.#v[i]! / (1 - p.beta2 ** this.#steps)]
      this.#weights[i]! -= (p.learning_rate * m) / (Math.sqrt(v) + p.eps)
    }
    this.#gradient.fill(0)
    return Math.sqrt(squares)
  }

  sample({ prompt, num_samples, sampling_params: { max_tokens, seed, temperature, stop = [] } }: SampleBody) {
    const last = prompt.chunks.flatMap(({ tokens }) => tokens).at(-1)!
    const sequences = Array.from({ length: num_samples }, (_, sample) => {
      const [tokens, logprobs]: [number[], number[]] = [[], []]
      while (tokens.length < max_tokens && !stop.includes(tokens.at(-1)!)) {
        const row = this.#logprobs(tokens.at(-1) ?? last)
        const token =
          temperature === 0 ? row.indexOf(Math.max(...row)) : drawn(row, uniform(seed + sample, tokens.length))
        tokens.push(token)
        logprobs.push(row[token]!)
      }
      return { tokens, logprobs, stop_reason: stop.includes(tokens.at(-1)!) ? 'stop' : 'length' }
    })
    return { sequences, prompt_logprobs: null, topk_prompt_logprobs: null }
  }

  #logprobs(token: number): number[] {
    const row = Array.from(this.#weights.subarray(token * this.#size, (token + 1) * this.#size))
    const log = Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
    return row.map((logit) => logit - log)
  }
}

function drawn(row: readonly number[], at: number): number {
  let mass = 0
  const found = row.findIndex((logprob) => (mass += Math.exp(logprob)) > at)
  return found < 0 ? row.length - 1 : found
}

/** The derivative of the objective by the log-probability. */
function slopeOf(
  loss: string,
  { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2 }: Readonly<Record<string, number>>,
  logprob: number,
  { old, advantage }: { readonly old: number; readonly advantage: number },
): number {
  const ratio = Math.exp(logprob - old)
  if (loss === 'cross_entropy') return 1
  if (loss === 'cispo') return Math.min(high, Math.max(low, ratio)) * advantage
  const clips = loss === 'ppo' && (advantage > 0 ? ratio > high : ratio < low)
  return clips ? 0 : ratio * advantage
}
