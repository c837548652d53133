import { Worker } from 'node:worker_threads'
import { builtEntry } from '../errors/index.ts'
import { CrashedStoreError } from './errors/index.ts'
import { toJson } from './record.ts'
import { errorOf } from './sqlite-thread-error.ts'
import type { NumberedRequest, ThreadAnswer, ThreadRequest, ThreadStore } from './sqlite-thread-protocol.ts'

/** This end of the line to a thread: what a `Worker` is, as far as it is used. */
export interface ThreadPort {
  on(event: 'message', listener: (answers: readonly ThreadAnswer[]) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
  postMessage(message: NumberedRequest, transfer: readonly never[]): void
  ref(): void
  unref(): void
  terminate(): Promise<unknown>
}

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/**
 * One thread that has a store open. Requests go out at once, in order, and are answered in any order. When the thread
 * ends, all that are open reject.
 */
export class StoreThread {
  readonly #store: ThreadStore
  readonly #port: ThreadPort
  readonly #pending = new Map<number, Pending>()
  #nextNumber = 0
  #used = false
  #ended: Error | null = null

  /** @param port for tests; else a worker thread. */
  constructor(store: ThreadStore, port: ThreadPort = startWorker()) {
    this.#store = store
    this.#port = port
    port.on('message', (answers) => this.#receive(answers))
    port.on('error', (error) => this.#end(error instanceof Error ? error.message : String(error), error))
    port.on('exit', (code) => this.#end(`exit code ${code}`))
    port.unref()
  }

  /** Whether the thread is gone. */
  get ended(): boolean {
    return this.#ended !== null
  }

  /** Opens the store, once and before anything else is asked for. When that fails, the thread ends. */
  async open(): Promise<void> {
    this.#used = true
    try {
      await this.request({ kind: 'open', store: this.#store })
    } catch (error) {
      this.#ended ??= error as Error
      await this.#port.terminate()
      throw error
    }
  }

  request(request: ThreadRequest): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended)
      const number = this.#nextNumber++
      this.#post({ number, request })
      this.#pending.set(number, { resolve, reject })
      // A process stays for as long as somebody waits for an answer, and may end although a store is open.
      if (this.#pending.size === 1) this.#port.ref()
    })
  }

  /** Closes the store, after what was asked for before, and ends the thread. */
  async close(): Promise<void> {
    try {
      if (this.#used && !this.#ended) await this.request({ kind: 'close' })
    } finally {
      await this.#port.terminate()
    }
  }

  #post(message: NumberedRequest): void {
    try {
      this.#port.postMessage(message, [])
    } catch (error) {
      // What cannot be cloned cannot be stored either, and the store says better what it is and where.
      if (message.request.kind === 'call') toJson(message.request.call.args, message.request.call.repository)
      throw error
    }
  }

  #receive(answers: readonly ThreadAnswer[]): void {
    for (const answer of answers) {
      const pending = this.#pending.get(answer.number)
      this.#pending.delete(answer.number)
      if ('error' in answer) pending?.reject(errorOf(answer.error))
      else pending?.resolve(answer.result)
    }
    if (this.#pending.size === 0) this.#port.unref()
  }

  #end(problem: string, cause?: unknown): void {
    this.#ended ??= new CrashedStoreError(this.#store.path, problem, cause)
    for (const { reject } of this.#pending.values()) reject(this.#ended)
    this.#pending.clear()
  }
}

/** Without the flags that this process was started with: some are refused for a thread, and none is meant for it. */
function startWorker(): ThreadPort {
  return new Worker(builtEntry(import.meta.url, './sqlite-thread-entry.js'), { execArgv: [] })
}
