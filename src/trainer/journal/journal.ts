import { type FileHandle, open, readFile, rename, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { InputError, InvariantError } from '../../errors/index.ts'
import { TrainerEvent } from './events.ts'

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
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return Buffer.alloc(0)
      throw error
    })
    const whole = bytes.lastIndexOf(0x0a) + 1
    if (whole < bytes.length) await truncate(path, whole)
    let [from, line] = [0, 0]
    while (from < whole) {
      const end = bytes.indexOf(0x0a, from)
      line += 1
      apply(readEvent(bytes.toString('utf8', from, end), path, line))
      from = end + 1
    }
    const file = await open(path, 'a')
    await syncFolderOf(path)
    return new Journal(path, file, whole, apply)
  }

  /** Bytes of the file. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Writes an event down; resolves when it is on the disk and applied.
   * @param outlasts what the event must outlast: the end of the machine, or of this process only, which costs no sync.
   * @throws UnwritableEventError for what {@link open} would refuse to read. Nothing was written.
   */
  async append(event: TrainerEvent, outlasts: 'machine' | 'process' = 'machine'): Promise<void> {
    const read = TrainerEvent.safeParse(event)
    if (!read.success) throw new UnwritableEventError(event.type, read.error)
    return new Promise((done, failed) => {
      this.#waiting.push({ event, outlasts, done, failed })
      if (this.#waiting.length === 1) this.#turn = this.#turn.then(() => this.#flush())
    })
  }

  /** Puts a shorter history with the same outcome in the place of the file's. @param events made when its turn has come. */
  rewrite(events: () => Iterable<TrainerEvent>): Promise<void> {
    const work = this.#turn.then(async () => {
      const text = [...events()].map(lineOf).join('')
      const other = `${this.#path}.new`
      const file = await open(other, 'w')
      await file.writeFile(text)
      await file.sync()
      await file.close()
      await rename(other, this.#path)
      await syncFolderOf(this.#path)
      await this.#file.close()
      this.#file = await open(this.#path, 'a')
      this.#bytes = Buffer.byteLength(text)
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
      const text = taken.map(({ event }) => lineOf(event)).join('')
      await this.#file.appendFile(text)
      if (taken.some(({ outlasts }) => outlasts === 'machine')) await this.#file.datasync()
      this.#bytes += Buffer.byteLength(text)
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

/** An event that the journal could not read back: no number of JSON, or a part that is missing. */
export class UnwritableEventError extends InvariantError {
  constructor(type: TrainerEvent['type'], cause: z.ZodError) {
    super(`an event ${type} that cannot be read back was not written: ${z.prettifyError(cause).slice(0, 300)}`, cause)
  }
}

interface Waiting {
  readonly event: TrainerEvent
  readonly outlasts: 'machine' | 'process'
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

const lineOf = (event: TrainerEvent): string => `${JSON.stringify(event)}\n`

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

/** The file's name is on the disk, too. */
async function syncFolderOf(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
