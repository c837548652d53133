import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sweepBlobs } from '../store/index.ts'
import type { TrainerState } from './journal/state.ts'

/** Where a trainer's folder has its weights and training states. */
export const blobsIn = (folder: string): string => join(folder, 'blobs')

/**
 * Removes the weights and states of a trainer's folder that nothing names: what a process left that ended between writing them
 * and writing down what they are. A folder that a store shares keeps everything, because the store's weights lie there, too.
 */
export async function sweepFolder(folder: string, state: TrainerState): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isFile() && (await isDatabase(join(folder, entry.name)))) return
  }
  await sweepBlobs(blobsIn(folder), (hash) => state.names(hash))
}

/** What every file of SQLite begins with. */
const beginning = Buffer.from('SQLite format 3\0')

async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(beginning.length), 0, beginning.length, 0)
    return buffer.equals(beginning)
  } finally {
    await file.close()
  }
}
