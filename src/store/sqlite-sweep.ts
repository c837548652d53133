import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { Remains } from '../core/index.ts'
import type { FreeSpace } from './free-space.ts'
import type { SqliteConnection } from './sqlite-driver.ts'
import type { WriteQueue } from './write-queue.ts'

/** Tries while somebody reads what is older, and the time between them: others write meanwhile. */
const tries = 20
const pauseMs = 250

const Checkpoint = z.tuple([z.object({ busy: z.number() })])

/**
 * Takes what was removed out of a SQLite store's files: the write-ahead log, which holds the pages as they were, goes into
 * the database file and is cut to nothing, and the unused space of pages is zeroed, a part of the file at a time.
 * @returns `log` where somebody reads for longer than this waits.
 */
export async function sweepFiles(
  connection: SqliteConnection,
  writes: WriteQueue,
  freeSpace: FreeSpace,
): Promise<Remains> {
  let busy = 0
  for (let from: number | null = 0; from !== null; ) {
    const at: number = from
    const next = await writes.between(() => {
      if (!emptyLog(connection)) return undefined
      // A page that is cached would be written again as it was.
      connection.exec('pragma shrink_memory')
      return freeSpace.zero(at)
    })
    if (next === undefined) {
      if ((busy += 1) === tries) return 'log'
      await delay(pauseMs)
    } else from = next
  }
  return 'nowhere'
}

/** @returns whether the log is empty: nobody reads what is older. */
function emptyLog(connection: SqliteConnection): boolean {
  // Without patience: this thread waits for nobody, and neither do those who want to write.
  connection.exec('pragma busy_timeout = 0')
  try {
    const [{ busy }] = Checkpoint.parse(connection.all('pragma wal_checkpoint(truncate)'))
    return busy === 0
  } finally {
    connection.exec('pragma busy_timeout = 5000')
  }
}
