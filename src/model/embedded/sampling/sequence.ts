import type { SampleStopReason } from '../../../core/index.ts'
import type { Matcher } from '../grammar/matcher.ts'
import type { TokenChooser } from './choose.ts'
import type { SampledToken, SampledTokens, SampleJob } from './job.ts'
import type { Segment } from './prefix-tree.ts'
import { uniform } from './uniform.ts'

/** A job under way: its tokens so far and what was recorded about the sampled ones. */
export class Sequence {
  readonly job: SampleJob
  /** Prompt, then sampled tokens, in the first {@link Sequence.length} places. */
  readonly tokens: Int32Array
  /** Tokens known. */
  length: number
  /** Tokens whose keys and values lie beside it in its batch; the next step reads the ones after them. */
  cached = 0
  /** While waiting: the cached prefix, kept from eviction. */
  pinned: Segment | null = null
  /** What says which tokens may come next; `null` where all may. */
  readonly matcher: Matcher | null
  readonly #behaviourLogprobs: Float64Array
  readonly #logprobs: Float64Array
  #told = 0

  constructor(job: SampleJob, matcher: Matcher | null = null) {
    this.job = job
    this.matcher = matcher
    this.tokens = new Int32Array(job.prompt.length + job.maxTokens)
    this.tokens.set(job.prompt)
    this.length = job.prompt.length
    this.#behaviourLogprobs = new Float64Array(job.maxTokens)
    this.#logprobs = new Float64Array(job.maxTokens)
  }

  /** Position of the last known token: the next one is drawn from what the model says after it. */
  get position(): number {
    return this.length - 1
  }

  /** Tokens that it has at most when it ends. */
  get longest(): number {
    return this.tokens.length
  }

  get sampled(): number {
    return this.length - this.job.prompt.length
  }

  /** The random number that decides the next token. */
  get uniform(): number {
    return uniform(this.job.seed, this.job.firstDraw + this.sampled)
  }

  /** Appends the chosen token; returns why the sequence ends with it, or null. */
  append({ token, behaviourLogprob, logprob }: TokenChooser): SampleStopReason | null {
    this.#behaviourLogprobs[this.sampled] = behaviourLogprob
    this.#logprobs[this.sampled] = logprob
    this.tokens[this.length++] = token
    if (this.job.stopTokens.includes(token)) return 'stop'
    return this.sampled === this.job.maxTokens ? 'length' : null
  }

  /** What was sampled since the last call. */
  takeNews(): readonly SampledToken[] {
    const news: SampledToken[] = []
    for (; this.#told < this.sampled; this.#told++) {
      news.push({
        job: this.job.id,
        token: this.tokens[this.job.prompt.length + this.#told] as number,
        behaviourLogprob: this.#behaviourLogprobs[this.#told] as number,
        logprob: this.#logprobs[this.#told] as number,
      })
    }
    return news
  }

  result(stopReason: SampleStopReason): SampledTokens {
    return {
      id: this.job.id,
      tokens: this.tokens.slice(this.job.prompt.length, this.length),
      behaviourLogprobs: this.#behaviourLogprobs.slice(0, this.sampled),
      logprobs: this.#logprobs.slice(0, this.sampled),
      stopReason,
    }
  }
}
