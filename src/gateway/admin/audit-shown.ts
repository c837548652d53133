/** How long one who was shown a session is likely to be at it. */
const atItMs = 600_000
/** Of one draw; and draws. Names cost nothing. */
const mostReviewers = 16
const mostDraws = 20_000

/**
 * Which reviewers are at which draws, as far as this gateway showed them: two who judge at a time are shown different ones.
 * It only chooses what is shown; nothing hangs on it.
 */
export class ShownDraws {
  /** When it was shown last, by reviewer, by draw. */
  readonly #shown = new Map<string, Map<string, number>>()

  /**
   * How many were shown it lately.
   * @param but whoever is not at it: who asks, and who has judged it.
   */
  others(draw: string, but: ReadonlySet<string>, now: number): number {
    let count = 0
    for (const [name, at] of this.#shown.get(draw) ?? []) if (!but.has(name) && now - at < atItMs) count++
    return count
  }

  note(draw: string, reviewer: string, now: number): void {
    const reviewers = this.#shown.get(draw) ?? new Map<string, number>()
    // The latest go last, so that the first are the oldest.
    reviewers.delete(reviewer)
    reviewers.set(reviewer, now)
    dropFirst(reviewers, mostReviewers)
    this.#shown.delete(draw)
    this.#shown.set(draw, reviewers)
    dropFirst(this.#shown, mostDraws)
  }
}

function dropFirst(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
