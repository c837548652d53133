import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { InputError } from '../errors/index.ts'
import { sweepBlobs } from '../store/index.ts'
import type { TrainerState } from './journal/state.ts'

/** Where a trainer's folder has its weights and training states. */
export const blobsIn = (folder: string): string => join(folder, 'blobs')

/**
 * Removes what a process left that ended between writing weights and writing down what they are. A journal that names none may
 * be a new one in the place of one that is lost: its weights are all that is left then, and stay.
 * @throws InputError `trainer/unreadable-file`: see {@link isShared}.
 */
export async function sweepLeft(folder: string, state: TrainerState): Promise<void> {
  if (state.named().size > 0 && !(await isShared(folder))) await sweepFolder(folder, state)
}

/** Removes the weights and states that nothing names from a trainer's folder, which no store shares. */
export async function sweepFolder(folder: string, state: TrainerState): Promise<void> {
  const named = state.named()
  await sweepBlobs(blobsIn(folder), (hash) => named.has(hash))
}

/**
 * Whether a store shares a trainer's folder: its weights lie among the trainer's, and no event names them.
 * @throws InputError `trainer/unreadable-file` where nobody can tell.
 */
export async function isShared(folder: string): Promise<boolean> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && (await isDatabase(join(folder, entry.name)))) return true
  }
  return false
}

/** What every file of SQLite begins with. */
const beginning = Buffer.from('SQLite format 3\0')

async function isDatabase(path: string): Promise<boolean> {
  try {
    const file = await open(path)
    try {
      const { buffer } = await file.read(Buffer.alloc(beginning.length), 0, beginning.length, 0)
      return buffer.equals(beginning)
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new InputError({
      code: 'trainer/unreadable-file',
      message: `${path} cannot be read: ${(cause as Error).message}. It may be the database of a store whose weights lie beside it, so no weights were removed from this folder.`,
      hint: 'Make the file readable, or move it elsewhere: a trainer wants a folder of its own.',
      cause,
    })
  }
}
