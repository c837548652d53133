import { AsyncLocalStorage } from 'node:async_hooks'
import { MessageChannel, Worker } from 'node:worker_threads'
import { Json } from '../../core/index.ts'
import { builtEntry, InvariantError } from '../../errors/index.ts'
import { type SandboxEnd, type SandboxLine, type SandboxOutcome, SandboxReply, type SandboxRequest } from './outcome.ts'

/**
 * What code in a sandbox may ask for by calling `host(value)`: it waits for the answer, and its clock stands still meanwhile.
 * What is thrown here ends the code, and is thrown to whoever ran it.
 */
export type SandboxHost = (asked: Json) => Promise<Json>

/** A thread that runs one code after the other, each in a QuickJS of its own. */
export class SandboxThread {
  readonly #worker: Worker
  readonly #line: SandboxLine
  readonly #answers: MessageChannel['port1']

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.#answers = port1
    this.#line = { bell: new Int32Array(new SharedArrayBuffer(4)), answers: port2 }
    this.#worker = new Worker(builtEntry(import.meta.url, './sandbox-entry.js'), {
      workerData: this.#line,
      transferList: [port2],
      env: {},
      stdin: false,
    })
    // Each run hears of it while it lasts; between two runs nobody else would.
    this.#worker.on('error', () => {})
  }

  /** Whether this thread alone keeps the process alive. */
  set keepsAlive(keeps: boolean) {
    if (keeps) this.#worker.ref()
    else this.#worker.unref()
  }

  /**
   * @param deadlineMs of the thread's own work.
   * @throws InvariantError when the thread dies; what the host throws.
   */
  run(request: Omit<SandboxRequest, 'host'>, host: SandboxHost | null, deadlineMs: number): Promise<SandboxOutcome> {
    const worker = this.#worker
    // A kept thread speaks in the context of whoever began it: the host is asked in that of whoever runs this.
    const here = AsyncLocalStorage.snapshot()
    return new Promise<SandboxOutcome>((resolve, reject) => {
      const clock = new Clock(deadlineMs, (starved) => settle(() => resolve({ kind: 'deadline', starved })))
      const failed = (cause: unknown) =>
        settle(() => reject(new InvariantError('the sandbox ended without an outcome', cause)))
      const heard = (message: unknown) => {
        const reply = SandboxReply.safeParse(message)
        if (!reply.success) failed(reply.error)
        else if (reply.data.kind !== 'asks') {
          const end = reply.data
          settle(() => resolve(outcomeFrom(end)))
        } else {
          const { json } = reply.data
          clock.pause()
          here(() => this.#answer(json, host)).then(
            () => clock.go(),
            (error) => settle(() => reject(error)),
          )
        }
      }
      const settle = (end: () => void) => {
        clock.stop()
        worker.off('message', heard).off('error', failed).off('exit', failed)
        end()
      }
      worker.on('message', heard).on('error', failed).on('exit', failed)
      clock.go()
      worker.postMessage({ ...request, host: host !== null } satisfies SandboxRequest, [])
    })
  }

  async close(): Promise<void> {
    this.#answers.close()
    await this.#worker.terminate()
  }

  async #answer(json: string, host: SandboxHost | null): Promise<void> {
    const answer = host === null ? null : await host(Json.safeParse(JSON.parse(json)).data ?? null)
    this.#answers.postMessage(JSON.stringify(answer), [])
    Atomics.store(this.#line.bell, 0, 1)
    Atomics.notify(this.#line.bell, 0)
  }
}

/** Measures a thread's own time, and rings when it is up. */
class Clock {
  readonly #ring: (starved: boolean) => void
  readonly #deadlineMs: number
  readonly #before = process.cpuUsage()
  #leftMs: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(deadlineMs: number, ring: (starved: boolean) => void) {
    this.#deadlineMs = deadlineMs
    this.#leftMs = deadlineMs
    this.#ring = ring
  }

  go(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(() => {
      // Of all threads together, in microseconds: the code's own had no more.
      const { user, system } = process.cpuUsage(this.#before)
      this.#ring(user + system < 500 * this.#deadlineMs)
    }, this.#leftMs)
  }

  pause(): void {
    this.stop()
    this.#leftMs = Math.max(1, this.#leftMs - (performance.now() - this.#since))
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

function outcomeFrom(end: SandboxEnd): SandboxOutcome {
  return end.kind === 'returned' ? { kind: 'returned', value: Json.safeParse(JSON.parse(end.json)).data ?? null } : end
}
