import { setTimeout as sleep } from 'node:timers/promises'
import { PullError } from './pull-error.ts'

/** How often and how long a pull tries. */
export interface Patience {
  /** Tries in a row without a byte that is new. */
  readonly tries: number
  /** The wait after the n-th of them is uniform in [0, base · 2ⁿ⁻¹] (full jitter; Brooker, AWS 2015), at most 30 s. */
  readonly baseDelayMs: number
}

export const usualPatience: Patience = { tries: 6, baseDelayMs: 1_000 }

const longestDelayMs = 30_000
/** A server that asks for more is not waited for. */
const longestRetryAfterSeconds = 120

/**
 * Does it again while it fails in a way that may pass.
 * @param progress a number that grows while work is done: after a try in which it grew, the tries count anew.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  {
    patience,
    progress = () => 0,
    signal,
  }: { patience: Patience; progress?: () => number; signal?: AbortSignal | undefined },
): Promise<T> {
  let tries = 0
  let before = progress()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PullError) || !error.passing) throw error
      if (progress() > before) tries = 0
      before = Math.max(before, progress())
      tries++
      const asked = error.retryAfterSeconds ?? 0
      if (tries >= patience.tries || asked > longestRetryAfterSeconds) throw error
      const jitter = Math.random() * Math.min(longestDelayMs, patience.baseDelayMs * 2 ** (tries - 1))
      await sleep(Math.max(jitter, asked * 1_000), undefined, { signal })
    }
  }
}
