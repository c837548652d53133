import { constants, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { z } from 'zod'
import { LockedStoreError, type Writer } from './errors/index.ts'
import { fileErrorOf } from './file-error.ts'
import { openSqlite } from './sqlite-driver.ts'
import { BusyError } from './sqlite-error.ts'

const Note = z.object({ pid: z.number(), host: z.string(), since: z.number(), url: z.url().optional() })

/**
 * Makes this process the one writer of the store at `path` until `release`.
 *
 * The lock is an open exclusive transaction on an empty database beside the store (`<path>.lock`): the operating system
 * drops it with the process, kill -9 included. `<path>.writer` names the holder, for messages and for {@link writerOf}.
 * @throws LockedStoreError when there is a writer already.
 * @throws ReadOnlyStoreError | DiskFullError when the store's folder cannot be written.
 */
export async function lockForWriting(path: string): Promise<{ release(): void }> {
  const note = `${path}.writer`
  // SQLite would only say that it cannot open a file.
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw fileErrorOf(error, path)
  })
  const lock = await openSqlite(`${path}.lock`)
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    throw error instanceof BusyError ? new LockedStoreError(path, readNote(note)) : error
  }
  try {
    writeFileSync(note, JSON.stringify({ pid: process.pid, host: hostname(), since: Date.now() } satisfies Writer))
  } catch (error) {
    lock.close()
    throw fileErrorOf(error, path)
  }
  return {
    release() {
      try {
        rmSync(note, { force: true })
      } catch {
        // Whoever is the writer next writes over it.
      }
      lock.close()
    },
  }
}

/**
 * Says where this process, which writes the store, answers: commands of this machine find a gateway by it.
 * @param path the store's.
 */
export function announceWriter(path: string, url: string): void {
  const known = readNote(`${path}.writer`)
  if (known?.pid !== process.pid || known.host !== hostname()) return
  try {
    writeFileSync(`${path}.writer`, JSON.stringify({ ...known, url } satisfies Writer))
  } catch {
    // Whoever looks for it is told where it usually is.
  }
}

/** Who writes the store on this machine; `null` for nobody. A process that was killed leaves its note behind: it is nobody. */
export function writerOf(path: string): Writer | null {
  const writer = readNote(`${path}.writer`)
  return writer !== null && writer.host === hostname() && isAlive(writer.pid) ? writer : null
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // It is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function readNote(path: string): Writer | null {
  try {
    return Note.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}
