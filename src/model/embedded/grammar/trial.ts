import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { OneAtATime, sha256 } from '../../../core/index.ts'
import { builtEntry, present } from '../../../errors/index.ts'
import { UnusableGrammarError } from './unusable-grammar-error.ts'

/** Verdicts that are remembered. */
const remembered = 1_024
/** How long the thread may take to start, in milliseconds: it reads the vocabulary. */
const startPatience = 60_000

export interface TrialOptions {
  /** See `Compiler.open`; asked for with the first grammar. */
  readonly vocabulary: () => readonly string[]
  /** How long one grammar may take, in milliseconds. Default 2,000: where it is used, as much is waited again. */
  readonly patience?: number
}

/**
 * Compiles each new grammar once in a thread of its own, before a thread that samples does: what is malformed ends xgrammar,
 * and what is too large keeps it busy for minutes. One after the other, so that a deadline concerns one grammar alone.
 */
export class GrammarTrial {
  readonly #options: TrialOptions
  readonly #oneAtATime = new OneAtATime()
  /** What is wrong with a grammar, by its hash; empty where nothing is. */
  readonly #verdicts = new LRUCache<string, string>({ max: remembered })
  #thread: Worker | null = null

  constructor(options: TrialOptions) {
    this.#options = options
  }

  /** @throws UnusableGrammarError for a grammar that cannot be compiled, or takes too long. */
  async admit(ebnf: string): Promise<void> {
    const key = sha256(ebnf)
    // Asked again once its turn has come: the same grammar may have been tried meanwhile.
    const verdict =
      this.#verdicts.get(key) ??
      (await this.#oneAtATime.run(async () => this.#verdicts.get(key) ?? this.#try(key, ebnf)))
    if (verdict !== '')
      throw new UnusableGrammarError(verdict, 'Ask for a simpler form: fewer properties, shorter bounded strings.')
  }

  close(): Promise<unknown> {
    return this.#end()
  }

  async #try(key: string, ebnf: string): Promise<string> {
    const { patience = 2_000 } = this.#options
    const thread = (this.#thread ??= await this.#start())
    const heard = answerOf(thread, patience)
    thread.postMessage(ebnf)
    const answer = await heard
    // Who has aborted, or is busy still, is of no more use.
    if (answer !== null) await this.#end()
    const verdict =
      answer === null ? '' : answer === undefined ? `compiling it takes longer than ${patience} ms.` : String(answer)
    this.#verdicts.set(key, verdict)
    return verdict
  }

  async #start(): Promise<Worker> {
    const workerData = this.#options.vocabulary()
    const thread = new Worker(builtEntry(import.meta.url, './trial-entry.js'), { workerData, env: {}, execArgv: [] })
    present((await answerOf(thread, startPatience)) ?? null, 'the thread that tries grammars')
    return thread
  }

  async #end(): Promise<void> {
    const thread = this.#thread
    this.#thread = null
    await thread?.terminate()
  }
}

/** What a thread says next: undefined when it is silent for too long, why it ended when it does. It keeps the process meanwhile. */
async function answerOf(thread: Worker, patience: number): Promise<unknown> {
  thread.ref()
  const unhear = new AbortController()
  const heard = new Promise<unknown>((resolve) => {
    const timer = setTimeout(() => resolve(undefined), patience)
    const failed = (error: unknown) => resolve(`the thread that compiles it ended (${String(error)}).`)
    thread.on('message', resolve).on('error', failed).on('exit', failed)
    unhear.signal.addEventListener('abort', () => {
      clearTimeout(timer)
      thread.off('message', resolve).off('exit', failed)
      // Between two answers, nobody else would hear of it.
      thread.on('error', () => {}).off('error', failed)
    })
  })
  try {
    return await heard
  } finally {
    unhear.abort()
    thread.unref()
  }
}
