import { contextUnder, type StopReason } from '../core/index.ts'
import type { WeightsBinding } from './binding.ts'

/** Counts what one `weights` Parameter spends of its budget over a whole episode, whichever way it is called. */
export class Meter {
  readonly #binding: WeightsBinding
  readonly #deadline: number
  #turns = 0
  #tokens = 0
  #malformedCalls = 0
  #toolErrors = 0

  constructor(binding: WeightsBinding) {
    const { budget, now } = binding
    this.#binding = binding
    this.#deadline = budget.seconds === undefined ? Number.POSITIVE_INFINITY : now() + budget.seconds * 1000
  }

  /** Tokens that the next policy call may sample. */
  get room(): number {
    const { tokens, tokensPerTurn } = this.#binding.budget
    return Math.min(tokensPerTurn, tokens - this.#tokens)
  }

  /** Why there can be no further policy call that reads `length` tokens, or `null`. */
  stop(length: number): StopReason | null {
    const { budget, sampler, adapter, signal, now } = this.#binding
    if (signal?.aborted) return 'cancelled'
    if (this.#turns >= budget.turns) return 'turn-budget'
    if (this.room < 1) return 'token-budget'
    if (length + this.room > contextUnder(sampler, adapter)) return 'context-length'
    return now() > this.#deadline ? 'time-budget' : null
  }

  /** Fires when the budget's time is up; `undefined` where there is no such budget. */
  deadline(): AbortSignal | undefined {
    if (this.#deadline === Number.POSITIVE_INFINITY) return undefined
    return AbortSignal.timeout(Math.max(0, Math.ceil(this.#deadline - this.#binding.now())))
  }

  /** Counts one policy call. */
  spend(tokens: number): void {
    this.#turns++
    this.#tokens += tokens
  }

  /** Counts calls that could not be read; whether their budget is spent. */
  malformed(calls: number): boolean {
    this.#malformedCalls += calls
    return calls > 0 && this.#malformedCalls >= this.#binding.budget.malformedCalls
  }

  /** Counts calls that a tool answered with an error; whether their budget is spent. */
  failed(calls: number): boolean {
    this.#toolErrors += calls
    return calls > 0 && this.#toolErrors >= this.#binding.budget.toolErrors
  }
}
