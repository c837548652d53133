import type { LeakCheck } from '../../core/index.ts'

/**
 * Why a proposed text is none. Each is counted and told.
 * - `unreadable`: the writer's answer was cut off, or is not what was asked for.
 * - `unchanged`: it says what is known already.
 * - `tooLong`: it has more bytes than allowed.
 * - `locked`: it lost, moved or repeated what must stay, or a placeholder.
 * - `leak`: it quotes tasks that measure.
 * - `instructs`: words from outside would instruct a model that reads them.
 * - `withheld`: it holds words of people that may not be shared.
 * - `worse`: the tasks that it was tried on earned less, or no more.
 */
export type Refusal = 'unreadable' | 'unchanged' | 'tooLong' | 'locked' | 'leak' | 'instructs' | 'withheld' | 'worse'

/** What a proposed text must hold to. */
export interface Bounds {
  /** What served when the run began: what stands in it already is no leak. */
  readonly served: string
  /** UTF-8. */
  readonly maxBytes: number
  readonly leaks: LeakCheck | undefined
}

/** Whether what is proposed may be attempted at all; `null` if so. */
export function refusalOf(text: string, { served, maxBytes, leaks }: Bounds): Refusal | null {
  if (Buffer.byteLength(text) > maxBytes) return 'tooLong'
  return leaks?.(text, served) ? 'leak' : null
}

/** Counts refusals, by their reason. */
export class Refusals {
  readonly #counts: Record<string, number>

  constructor(saved: Readonly<Record<string, number>> = {}) {
    this.#counts = { ...saved }
  }

  add(refusal: Refusal): void {
    this.#counts[refusal] = (this.#counts[refusal] ?? 0) + 1
  }

  get counts(): Readonly<Record<string, number>> {
    return this.#counts
  }

  /** For metrics: `refused.leak` and so on. */
  told(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.#counts).map(([reason, count]) => [`refused.${reason}`, count]))
  }
}
