import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import { InputError } from '../../errors/index.ts'

/** Where rows go, one JSON object a line. */
export interface RowWriter {
  /** Waits while the reader cannot take more. */
  write(row: unknown): Promise<void>
  /** Everything is written. */
  end(): Promise<void>
  /** Takes back what was written to a file: half an export looks like a whole one. */
  abandon(): Promise<void>
}

/** Rows to standard output. */
export function standardOutput(): RowWriter {
  const { stdout } = process
  return { write: (row) => writeTo(stdout, row), end: async () => {}, abandon: async () => {} }
}

/**
 * Rows to a new file that only its owner may read.
 * @throws InputError when there is one already, or it cannot be written.
 */
export async function newFile(path: string): Promise<RowWriter> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(path, error)
  })
  const out = createWriteStream('', { fd: handle })
  let failure: Error | null = null
  out.on('error', (error) => (failure ??= error))
  const holding = async (work: () => Promise<void>) => {
    try {
      if (failure) throw failure
      await work()
    } catch (error) {
      throw unwritable(path, error)
    }
  }
  return {
    write: (row) => holding(() => writeTo(out, row)),
    end: () =>
      holding(async () => {
        out.end()
        await finished(out)
      }),
    async abandon() {
      out.destroy()
      await rm(path, { force: true })
    },
  }
}

async function writeTo(out: Writable, row: unknown): Promise<void> {
  if (!out.write(`${JSON.stringify(row)}\n`)) await once(out, 'drain')
}

function unwritable(path: string, cause: unknown): InputError {
  const exists = (cause as NodeJS.ErrnoException).code === 'EEXIST'
  return new InputError({
    code: 'input/unwritable-file',
    message: exists
      ? `There is something at ${path} already.`
      : `The file ${path} cannot be written: ${(cause as Error).message}.`,
    hint: exists ? 'Name a new file: none is overwritten.' : 'Name a file in a folder that may be written, with room.',
    cause,
  })
}
