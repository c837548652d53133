import { randomUUID } from 'node:crypto'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { archiveExists } from '../errors/archive-error.ts'
import { makeFolder } from '../make-folder.ts'
import { syncFile, syncFolder } from '../sync-file.ts'
import { files, type Manifest } from './manifest.ts'
import { writing } from './writing.ts'
import { type BuildArchiveOptions, type BuiltArchive, writeRows } from './write-rows.ts'

/**
 * Builds an archive in a folder that is not there yet. It stands there in full, or not at all; a process that is killed leaves
 * a hidden folder beside it. Between some hundred rows others are served, and each hundred takes up to half a second: build it
 * in a program that serves nobody.
 * @throws ArchiveError for a folder that exists or cannot be written, no rows at all, vectors that are not as the embedder
 * says, and where usearch is not installed; other StoreErrors for a full disk; what `rows` and the embedder throw.
 */
export async function buildArchive(folder: string, options: BuildArchiveOptions): Promise<BuiltArchive> {
  const whole = resolve(folder)
  if ((await stat(whole).catch(() => null)) !== null) throw archiveExists(folder)
  const draft = join(dirname(whole), `.${basename(whole)}-${randomUUID()}`)
  try {
    await writing(folder, () => makeFolder(draft))
    const paths = {
      rows: join(draft, files.rows),
      vectors: join(draft, files.vectors),
      index: join(draft, files.index),
    }
    const built = await writeRows(folder, paths, options)
    await writing(folder, async () => {
      const bytes = {
        rows: await flushed(paths.rows),
        vectors: await flushed(paths.vectors),
        index: await flushed(paths.index),
      }
      const manifest = JSON.stringify(manifestOf(built, bytes, options), null, 2)
      await writeFile(join(draft, files.manifest), `${manifest}\n`, { flush: true })
      await syncFolder(draft)
      await rename(draft, whole)
      await syncFolder(dirname(whole))
    })
    return built
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {})
    throw error
  }
}

const manifestOf = (
  { id, size }: BuiltArchive,
  bytes: Manifest['bytes'],
  { embedder: { name, dimensions }, about }: BuildArchiveOptions,
): Manifest => ({ format: 1, id, about, embedder: { name, dimensions }, size, bytes })

/** @returns the bytes of a file that is on the disk. */
async function flushed(path: string): Promise<number> {
  await syncFile(path)
  return (await stat(path)).size
}
