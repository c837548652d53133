import { closeSync, openSync, readSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Json, type VectorArchive } from '../../core/index.ts'
import { archiveMissing, archiveUnreadable } from '../errors/archive-error.ts'
import { openSqlite } from '../sqlite-driver.ts'
import { files, Manifest } from './manifest.ts'
import { cosineWith, indexed } from './vector-bytes.ts'
import { vectorIndex } from './vector-index.ts'

/** Rows that are compared in full, at least. */
const refined = 128

/**
 * Opens an archive that `buildArchive` built. Its index is mapped from its file and not read into memory. Open only archives
 * that you trust: the library that reads the index checks little of it.
 * @throws ArchiveError where there is none, a file of it was cut or cannot be read, and where usearch is not installed.
 */
export async function openArchive(folder: string): Promise<VectorArchive> {
  const { id, embedder, size } = await manifestIn(folder)
  const index = await vectorIndex(embedder.dimensions)
  try {
    index.view(join(folder, files.index))
  } catch (error) {
    throw archiveUnreadable(folder, 'its index is of another sort', error)
  }
  if (index.size() !== size || index.dimensions() !== embedder.dimensions) {
    throw archiveUnreadable(folder, `its index has ${index.size()} vectors, and ${size} are its rows`)
  }
  const connection = await openSqlite(join(folder, files.rows), { readOnly: true })
  const file = openSync(join(folder, files.vectors), 'r')
  const ofNumber = connection.database.prepare('select key, value from rows where n = ?')
  const ofKey = connection.database.prepare('select key, value from rows where key = ?')
  const stored = new Int16Array(embedder.dimensions)
  const similarityOf = (number: bigint, vector: Float32Array) => {
    readSync(file, stored, 0, stored.byteLength, (number - 1n) * BigInt(stored.byteLength))
    return cosineWith(vector, stored)
  }
  return {
    id,
    embedder,
    size,
    *nearest(vector, count, floor) {
      const { keys } = index.search(indexed(vector), Math.min(size, Math.max(refined, count)), 1)
      const near = Array.from(keys, (number) => ({ number, similarity: similarityOf(number, vector) }))
        .filter(({ similarity }) => similarity >= floor)
        .toSorted((a, b) => b.similarity - a.similarity || Number(a.number - b.number))
      for (const { number, similarity } of near.slice(0, count)) {
        const row = rowIn(ofNumber.all([number]))
        if (row) yield { ...row, similarity }
      }
    },
    get: (key) => rowIn(ofKey.all([key]))?.value ?? null,
    close() {
      connection.close()
      closeSync(file)
    },
  }
}

const Row = z.object({ key: z.string(), value: z.string() })

function rowIn([first]: readonly unknown[]): { readonly key: string; readonly value: Json } | null {
  if (first === undefined) return null
  const { key, value } = Row.parse(first)
  return { key, value: Json.parse(JSON.parse(value)) }
}

async function manifestIn(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, files.manifest), 'utf8').catch((error: unknown) => {
    throw archiveMissing(folder, error)
  })
  const manifest = parsed(folder, text)
  for (const file of ['rows', 'vectors', 'index'] as const) {
    const { size } = await stat(join(folder, files[file])).catch((error: unknown) => {
      throw archiveMissing(folder, error)
    })
    const wanted = manifest.bytes[file]
    if (size !== wanted)
      throw archiveUnreadable(folder, `${files[file]} has ${size} bytes, and was written with ${wanted}`)
  }
  return manifest
}

function parsed(folder: string, text: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(text))
  } catch (error) {
    throw archiveUnreadable(folder, `${files.manifest} is not as it was written`, error)
  }
}
