/** Differences that are bet on, in standard deviations of the quantity. */
const EFFECTS = [0.1, 0.2, 0.4] as const
/** The largest share of what there is that one session can cost. */
const MOST_LOST = 0.5
/** The mean and the spread that are bet with are those of about so many sessions: levels drift. */
export const MEMORY = 500
/** Before anything is seen the mean is 1/2, with the weight of one session, and the variance 1/4, with that of four. */
export const PRIOR = { mean: 1, variance: 4 } as const

/**
 * Three gamblers with a third of the capital each, of whom each bets on a difference of its own: their capital together is an
 * e-value (the mean of three).
 */
export class Gamblers {
  /** Logarithm of what they have together, and the largest there ever was. */
  now = 0
  most = 0
  /** Of what they have together, the share of each. */
  readonly #capital: number[] = EFFECTS.map(() => 1 / EFFECTS.length)

  /**
   * One session: what they have is multiplied by 1 + λ·gain, λ being the effect times `unit`, cut at {@link MOST_LOST} over
   * the largest loss.
   * @param unit what a gambler stakes for an effect of one standard deviation; of the past only, as the largest loss is.
   */
  bet(gain: number, unit: number, largestLoss: number): void {
    const capital = this.#capital
    let growth = 0
    for (let j = 0; j < EFFECTS.length; j++) {
      const stake = Math.min((EFFECTS[j] as number) * unit, MOST_LOST / largestLoss)
      const kept = (capital[j] as number) * (1 + stake * gain)
      capital[j] = kept
      growth += kept
    }
    for (let j = 0; j < EFFECTS.length; j++) capital[j] = (capital[j] as number) / growth
    this.now += Math.log(growth)
    this.most = Math.max(this.most, this.now)
  }
}
