import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { sha256 } from '../../../core/index.ts'
import { builtEntry } from '../../../errors/index.ts'
import { EngineClosedError } from '../worker/engine-closed-error.ts'
import { WorkerCrashedError } from '../worker/worker-crashed-error.ts'
import { ShortestFirst } from './shortest-first.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'

/** Verdicts that are remembered. */
const remembered = 1_024
/** For how many milliseconds it is remembered that a grammar is too slow: to try it again would keep others waiting. */
const slowRemembered = 60_000
/** How long the thread may take to start, in milliseconds: it reads the vocabulary. */
const startPatience = 60_000

export interface TrialOptions {
  /** See `Compiler.open`; asked for with the first grammar. */
  readonly vocabulary: () => readonly string[]
  /** How long one grammar may take, in milliseconds. Default 2,000. Each worker that samples compiles it again. */
  readonly patience?: number
}

/**
 * Compiles each new grammar once in a thread of its own, before a thread that samples does: what is malformed ends xgrammar,
 * and what is too large keeps it busy for minutes. One after the other, so that a deadline concerns one grammar alone; the
 * shortest first, so that nobody's large ones keep small ones waiting.
 */
export class GrammarTrial {
  readonly #options: TrialOptions
  readonly #oneAtATime = new ShortestFirst()
  /** What is wrong with a grammar, by its hash; empty where nothing is. */
  readonly #verdicts = new LRUCache<string, string>({ max: remembered })
  #thread: Worker | null = null
  #closed = false

  constructor(options: TrialOptions) {
    this.#options = options
  }

  /**
   * Whether it was tried: not when the signal fires before its turn.
   * @throws UnusableGrammarError for a grammar that cannot be compiled, or takes too long; EngineClosedError once it is closed.
   */
  async admit(ebnf: string, signal?: AbortSignal): Promise<boolean> {
    const key = sha256(ebnf)
    // Asked again once its turn has come: the same grammar may have been tried meanwhile.
    const verdict =
      this.#verdicts.get(key) ??
      (await this.#oneAtATime.run(
        ebnf.length,
        async () => this.#verdicts.get(key) ?? (signal?.aborted ? null : this.#try(key, ebnf)),
      ))
    if (verdict === null || verdict === '') return verdict === ''
    throw new UnusableGrammarError(verdict, 'Ask for a simpler form: first of all, without minLength and maxLength.')
  }

  /** Ends the thread; what waits for it is refused. */
  close(): Promise<void> {
    this.#closed = true
    return this.#end()
  }

  async #try(key: string, ebnf: string): Promise<string> {
    const { patience = 2_000 } = this.#options
    const thread = (this.#thread ??= await this.#start())
    thread.postMessage(ebnf, [])
    const answer = await answerOf(thread, patience)
    if (this.#closed) throw new EngineClosedError()
    // A thread that has aborted, or is still busy, cannot be used again.
    if (answer !== null) await this.#end()
    const verdict = typeof answer === 'symbol' ? `compiling it takes longer than ${patience} ms.` : (answer ?? '')
    // How long it takes is the machine's business, too: it is not remembered for long.
    this.#verdicts.set(key, verdict, typeof answer === 'symbol' ? { ttl: slowRemembered } : {})
    return verdict
  }

  async #start(): Promise<Worker> {
    if (this.#closed) throw new EngineClosedError()
    const workerData = this.#options.vocabulary()
    const thread = new Worker(builtEntry(import.meta.url, './trial-entry.js'), { workerData, env: {}, execArgv: [] })
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = null
    })
    // Whoever waits hears of it; between two grammars nobody would.
    thread.on('error', () => {})
    const answer = await answerOf(thread, startPatience)
    if (answer === 'ready') return thread
    await thread.terminate()
    if (this.#closed) throw new EngineClosedError()
    throw new WorkerCrashedError(`the one that tries grammars did not start (${String(answer)})`)
  }

  async #end(): Promise<void> {
    const thread = this.#thread
    this.#thread = null
    await thread?.terminate()
  }
}

const silent = Symbol('silent for too long')

/** What a thread says next, or why it ended. The thread keeps the process for as long. */
function answerOf(thread: Worker, patience: number): Promise<string | null | typeof silent> {
  return new Promise((resolve) => {
    const settle = (answer: string | null | typeof silent) => {
      clearTimeout(timer)
      thread.off('message', settle).off('error', failed).off('exit', ended)
      thread.unref()
      resolve(answer)
    }
    const failed = (error: unknown) => settle(`the thread that compiles it failed (${String(error)}).`)
    const ended = () => settle('the thread that compiles it ended.')
    const timer = setTimeout(() => settle(silent), patience)
    thread.ref()
    thread.on('message', settle).on('error', failed).on('exit', ended)
  })
}
