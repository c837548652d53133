import { randomUUID } from 'node:crypto'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { archiveExists, archiveUnwritable } from '../errors/archive-error.ts'
import { makeFolder } from '../make-folder.ts'
import { syncFile, syncFolder } from '../sync-file.ts'
import { files, type Manifest } from './manifest.ts'
import { type ArchiveRow, type ArchiveOptions, type BuiltArchive, writeRows } from './write-rows.ts'

export interface BuildArchiveOptions extends ArchiveOptions {
  readonly rows: Iterable<ArchiveRow> | AsyncIterable<ArchiveRow>
}

/**
 * Builds an archive in a folder that is not there yet. It stands there in full, or not at all.
 * @throws ArchiveError for a folder that exists or cannot be written, no rows at all, vectors of another size than the embedder
 * says, and where usearch is not installed.
 */
export async function buildArchive(folder: string, options: BuildArchiveOptions): Promise<BuiltArchive> {
  const whole = resolve(folder)
  if ((await stat(whole).catch(() => null)) !== null) throw archiveExists(folder)
  const draft = join(dirname(whole), `.${basename(whole)}-${randomUUID()}`)
  try {
    await makeFolder(draft)
    const built = await write(draft, options)
    await rename(draft, whole)
    await syncFolder(dirname(whole))
    return built
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {})
    throw error instanceof Error && 'syscall' in error ? archiveUnwritable(folder, error) : error
  }
}

async function write(folder: string, { rows, ...options }: BuildArchiveOptions): Promise<BuiltArchive> {
  const paths = {
    rows: join(folder, files.rows),
    vectors: join(folder, files.vectors),
    index: join(folder, files.index),
  }
  const built = await writeRows(paths, rows, options)
  const bytes = {
    rows: await flushed(paths.rows),
    vectors: await flushed(paths.vectors),
    index: await flushed(paths.index),
  }
  const { name, dimensions } = options.embedder
  const { id, size } = built
  const manifest: Manifest = {
    format: 1,
    id,
    embedder: { name, dimensions },
    size,
    bytes,
  }
  await writeFile(join(folder, files.manifest), `${JSON.stringify(manifest, null, 2)}\n`, { flush: true })
  await syncFolder(folder)
  return built
}

/** @returns the bytes of a file that is on the disk. */
async function flushed(path: string): Promise<number> {
  await syncFile(path)
  return (await stat(path)).size
}
