import { RunningRegression } from './regression.ts'

/** Within which anything lies that is foretold now, of whatever session. */
export interface ForetoldBounds {
  readonly lowest: number
  readonly highest: number
}

/** What is foretold of a session's truth. */
export interface Foretold {
  /** Within the bounds. */
  readonly value: number
  /** Before it was shrunk towards the mean: what {@link Foreteller.learn} is told. */
  readonly guess: number
}

/** Foretells the truth of sessions from what they show, by earlier labels alone; what tells nothing comes to say the mean. */
export class Foreteller {
  readonly #regression: RunningRegression
  /** How the guesses moved with the truth, and how much they moved. */
  #together = 0
  #moved = 1

  /** @param size how many features a session has. */
  constructor(size: number) {
    this.#regression = new RunningRegression(size)
  }

  /** @param mean of the truth so far. */
  foretell(features: readonly number[], mean: number): Foretold {
    const trust = this.#trust
    const guess = Math.min(Math.max(mean + this.#regression.predict(features), 0), 1)
    return { value: mean + trust * (guess - mean), guess }
  }

  bounds(mean: number): ForetoldBounds {
    const trust = this.#trust
    return { lowest: mean * (1 - trust), highest: mean + trust * (1 - mean) }
  }

  /** A session, labelled or not. */
  see(features: readonly number[]): void {
    this.#regression.see(features)
  }

  /** A label, with the mean that the guess was made with. */
  learn(
    features: readonly number[],
    truth: number,
    { guess, mean }: { readonly guess: number; readonly mean: number },
  ): void {
    this.#regression.learn(features, truth - mean)
    this.#together += (guess - mean) * (truth - mean)
    this.#moved += (guess - mean) ** 2
  }

  /** How far the guesses are to be trusted: the least-squares coefficient of the truth on them, cut to [0, 1]. */
  get #trust(): number {
    return Math.min(Math.max(this.#together / this.#moved, 0), 1)
  }
}
