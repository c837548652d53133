import type { SandboxOutcome } from './outcome.ts'
import { SandboxThread } from './sandbox-thread.ts'

/** Threads at once: code waits for one, above. */
const most = 8
/** Codes that one thread runs: its WebAssembly memory grows, and never shrinks. */
const runsOfOne = 500
/** Milliseconds after which a thread that nobody needs ends. */
const idleMs = 2_000

interface Kept {
  readonly thread: SandboxThread
  runs: number
  idle?: NodeJS.Timeout
}

/** Threads that are used again. One whose code did not end by itself is not. */
class KeptThreads {
  readonly #idle: Kept[] = []
  readonly #waiting: (() => void)[] = []
  #busy = 0

  async run(...run: Parameters<SandboxThread['run']>): Promise<SandboxOutcome> {
    while (this.#busy >= most) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy++
    const kept = this.#take()
    let sound = false
    try {
      const outcome = await kept.thread.run(...run)
      sound = outcome.kind === 'returned' || outcome.kind === 'threw'
      return outcome
    } finally {
      if (sound && kept.runs < runsOfOne) this.#keep(kept)
      else await kept.thread.close()
      this.#busy--
      this.#waiting.shift()?.()
    }
  }

  #take(): Kept {
    const kept = this.#idle.pop() ?? { thread: new SandboxThread(), runs: 0 }
    clearTimeout(kept.idle)
    kept.thread.keepsAlive = true
    kept.runs++
    return kept
  }

  #keep(kept: Kept): void {
    kept.thread.keepsAlive = false
    kept.idle = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(kept), 1)
      void kept.thread.close()
    }, idleMs).unref()
    this.#idle.push(kept)
  }
}

export const keptThreads = new KeptThreads()
