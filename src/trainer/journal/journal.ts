import { type FileHandle, open, rename, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { InputError, InvariantError } from '../../errors/index.ts'
import { syncFolder } from '../../store/index.ts'
import { type Outcome, TrainerEvent } from './events.ts'
import { readLines, writeLines } from './lines.ts'

/**
 * Events in one file, in their order. An event counts when its line is on the disk; a line that a crash cut off was never
 * acknowledged, and is dropped. Events that come together share one sync.
 */
export class Journal {
  readonly #path: string
  readonly #apply: (event: TrainerEvent) => void
  #file: FileHandle
  #waiting: Waiting[] = []
  #turn: Promise<void> = Promise.resolve()
  #bytes: number
  /** Bytes that were needed when the file was last written anew. */
  #needed = 0
  /** After a write that failed nobody knows where the file ends: nothing more is written. */
  #broken: { readonly cause: unknown } | null = null

  private constructor(path: string, file: FileHandle, bytes: number, apply: (event: TrainerEvent) => void) {
    this.#path = path
    this.#file = file
    this.#bytes = bytes
    this.#apply = apply
  }

  /**
   * Opens the file, which need not be there, and tells `apply` of each event in it, and later of each that is appended.
   * @throws InputError `trainer/damaged-journal` when a whole line cannot be read.
   */
  static async open(path: string, apply: (event: TrainerEvent) => void): Promise<Journal> {
    let line = 0
    const { whole, all } = await readLines(path, (text) => {
      line += 1
      apply(readEvent(text, path, line))
    })
    if (whole < all) await truncate(path, whole)
    const file = await open(path, 'a')
    await syncFolder(dirname(path))
    return new Journal(path, file, whole, apply)
  }

  /** Whether the file has more than so many bytes, and half of them have come since it was last written anew. */
  isLongerThan(bytes: number): boolean {
    return this.#bytes > Math.max(bytes, 2 * this.#needed)
  }

  /**
   * Writes an event down; resolves when it is on the disk and applied.
   * @param outlasts what the event must outlast: the end of the machine, or of this process only, which costs no sync.
   * @throws UnwritableEventError for what {@link open} would refuse to read. Nothing was written.
   */
  async append(event: TrainerEvent, outlasts: 'machine' | 'process' = 'machine'): Promise<void> {
    const line = lineOf(event)
    return new Promise((done, failed) => {
      this.#waiting.push({ event, line, outlasts, done, failed })
      if (this.#waiting.length === 1) this.#turn = this.#turn.then(() => this.#flush())
    })
  }

  /**
   * Puts a shorter history with the same outcome in the place of the file's. What is appended meanwhile waits, and so nothing is
   * applied.
   * @param events made when its turn has come, and taken piece by piece.
   */
  rewrite(events: () => Iterable<TrainerEvent>): Promise<void> {
    const work = this.#turn.then(async () => {
      const other = `${this.#path}.new`
      const file = await open(other, 'w')
      let bytes: number
      try {
        bytes = await writeLines(file, linesOf(events()))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(other, this.#path)
      await syncFolder(dirname(this.#path))
      await this.#file.close()
      this.#file = await open(this.#path, 'a')
      this.#bytes = this.#needed = bytes
    })
    this.#turn = work.catch(() => {})
    return work
  }

  /** What was appended before is on the disk then. */
  async close(): Promise<void> {
    await this.#turn
    await this.#file.close()
  }

  async #flush(): Promise<void> {
    const taken = this.#waiting
    this.#waiting = []
    try {
      if (this.#broken !== null) throw this.#broken.cause
      this.#bytes += await writeLines(
        this.#file,
        taken.map(({ line }) => line),
      )
      if (taken.some(({ outlasts }) => outlasts === 'machine')) await this.#file.datasync()
    } catch (error) {
      this.#broken ??= { cause: error }
      for (const { failed } of taken) failed(error)
      return
    }
    for (const { event, done } of taken) {
      this.#apply(event)
      done()
    }
  }
}

/** An event that the journal could not read back: no number of JSON, a part that is missing, or more than a line holds. */
export class UnwritableEventError extends InvariantError {
  constructor(type: TrainerEvent['type'], why: string, cause: unknown) {
    super(`an event ${type} that cannot be read back was not written: ${why.slice(0, 300)}`, cause)
  }

  /** In the place of a result that cannot be written down. */
  get outcome(): Outcome {
    return { kind: 'failed', message: `${this.message} ${this.hint}`, category: 'server', code: this.code }
  }
}

interface Waiting {
  readonly event: TrainerEvent
  readonly line: string
  readonly outlasts: 'machine' | 'process'
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/** @throws UnwritableEventError */
function lineOf(event: TrainerEvent): string {
  const read = TrainerEvent.safeParse(event)
  if (!read.success) throw new UnwritableEventError(event.type, z.prettifyError(read.error), read.error)
  try {
    return `${JSON.stringify(event)}\n`
  } catch (cause) {
    throw new UnwritableEventError(event.type, (cause as Error).message, cause)
  }
}

function* linesOf(events: Iterable<TrainerEvent>): Iterable<string> {
  for (const event of events) yield lineOf(event)
}

function readEvent(text: string, path: string, line: number): TrainerEvent {
  try {
    return TrainerEvent.parse(JSON.parse(text))
  } catch (cause) {
    throw new InputError({
      code: 'trainer/damaged-journal',
      message: `Line ${line} of ${path} cannot be read: ${(cause as Error).message.slice(0, 300)}`,
      hint: 'Restore the folder from a copy, or start with another folder. Nothing was changed.',
      cause,
    })
  }
}
