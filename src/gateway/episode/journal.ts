import type { Answer } from '../ports.ts'

export interface JournalOptions {
  /** How often a growing answer is kept, at most. Milliseconds. */
  readonly everyMs: number
  /** How often it is said that somebody is still at an answer that does not grow. Milliseconds. */
  readonly beatMs: number
  readonly save: (answer: Answer) => Promise<void>
  readonly onProblem: (error: unknown) => void
}

/** A stream spends at most one part in so many of its time on being written. */
const writingShare = 20

/** Keeps what a stream has said so far: the first time after `everyMs`, never twice at once, and never after its end. */
export class Journal {
  readonly #options: JournalOptions
  #latest: (() => Answer) | null = null
  #changed = false
  #timer: NodeJS.Timeout | null = null
  /** Whether the timer waits longer than a change may wait. */
  #beating = false
  #saving: Promise<void> | null = null
  /** How long the last write took: what is long to write is written less often. */
  #tookMs = 0
  #ended = false

  constructor(options: JournalOptions) {
    this.#options = options
  }

  /** What has come last. */
  get latest(): Answer | null {
    return this.#latest?.() ?? null
  }

  /** The answer grew. Called for each piece of it: costs next to nothing. */
  progress(answer: () => Answer): void {
    this.#latest = answer
    this.#changed = true
    if (this.#saving || this.#ended || (this.#timer && !this.#beating)) return
    this.#schedule(this.#pauseMs)
  }

  /** Stops, and waits for what is being written. */
  async end(): Promise<void> {
    this.#ended = true
    this.#stop()
    await this.#saving
  }

  get #pauseMs(): number {
    const { everyMs, beatMs } = this.#options
    return Math.max(everyMs, Math.min(beatMs, writingShare * this.#tookMs))
  }

  #schedule(ms: number): void {
    this.#stop()
    this.#beating = ms > this.#pauseMs
    this.#timer = setTimeout(() => this.#save(), ms).unref()
  }

  #stop(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  #save(): void {
    const latest = this.#latest
    this.#timer = null
    if (!latest || this.#ended) return
    this.#changed = false
    this.#saving = this.#write(latest).then(() => {
      this.#saving = null
      if (!this.#ended) this.#schedule(this.#changed ? this.#pauseMs : this.#options.beatMs)
    })
  }

  async #write(latest: () => Answer): Promise<void> {
    const began = performance.now()
    try {
      await this.#options.save(latest())
    } catch (error) {
      this.#options.onProblem(error)
    }
    this.#tookMs = performance.now() - began
  }
}
