import { closeSync, openSync, readSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SqliteStatement } from 'kysely'
import type { Index } from 'usearch'
import { z } from 'zod'
import { Json, type NearRow, type VectorArchive } from '../../core/index.ts'
import { archiveClosed, archiveMissing, archiveUnreadable } from '../errors/archive-error.ts'
import { openSqlite, type SqliteConnection } from '../sqlite-driver.ts'
import { files, Manifest } from './manifest.ts'
import { cosineWith, storedBytes } from './vector-bytes.ts'
import { vectorIndex } from './vector-index.ts'

/** Rows that are compared in full, at least. */
const refined = 128
/** An archive of no more rows is looked through. */
const allLooked = 512

/**
 * Opens an archive that `buildArchive` built. Vectors stay in their files. Open only archives that you trust: the library that
 * reads the index checks little of it.
 * @throws ArchiveError where there is none, a file of it was cut or is damaged, and where usearch is not installed; other
 * StoreErrors where its rows cannot be opened.
 */
export async function openArchive(folder: string): Promise<VectorArchive> {
  const manifest = await manifestIn(folder)
  const index = await indexIn(folder, manifest)
  const connection = await openSqlite(join(folder, files.rows), { readOnly: true })
  let file: number | null = null
  try {
    const statements = {
      ofNumber: connection.database.prepare('select key, value from rows where n = ?'),
      ofKey: connection.database.prepare('select key, value from rows where key = ?'),
    }
    file = openSync(join(folder, files.vectors), 'r')
    return new OpenArchive(folder, manifest, index, connection, statements, file)
  } catch (error) {
    connection.close()
    if (file !== null) closeSync(file)
    throw archiveUnreadable(folder, 'a file of it is damaged', error)
  }
}

async function indexIn(folder: string, { embedder, size }: Manifest): Promise<Index> {
  const index = await vectorIndex(embedder.dimensions)
  try {
    index.view(join(folder, files.index))
  } catch (error) {
    throw archiveUnreadable(folder, 'its index is damaged', error)
  }
  if (index.size() === size && index.dimensions() === embedder.dimensions) return index
  throw archiveUnreadable(folder, 'its index belongs to another archive')
}

class OpenArchive implements VectorArchive {
  readonly id: string
  readonly about: Json
  readonly embedder: Manifest['embedder']
  readonly size: number
  readonly #folder: string
  readonly #index: Index
  readonly #connection: SqliteConnection
  readonly #statements: Record<'ofNumber' | 'ofKey', SqliteStatement>
  readonly #stored: Int16Array
  /** Of the vectors; `null`: it is closed. */
  #file: number | null

  constructor(
    folder: string,
    { id, about, embedder, size }: Manifest,
    index: Index,
    connection: SqliteConnection,
    statements: Record<'ofNumber' | 'ofKey', SqliteStatement>,
    file: number,
  ) {
    this.id = id
    this.about = about
    this.embedder = embedder
    this.size = size
    this.#folder = folder
    this.#index = index
    this.#connection = connection
    this.#statements = statements
    this.#stored = new Int16Array(embedder.dimensions)
    this.#file = file
  }

  *nearest(vector: Float32Array, count: number, floor: number): Generator<NearRow> {
    const file = this.#opened()
    const near = Array.from(this.#candidates(vector, count), (number) => ({
      number,
      similarity: this.#similarity(file, number, vector),
    }))
      .filter(({ similarity }) => similarity >= floor)
      .toSorted((a, b) => b.similarity - a.similarity || Number(a.number - b.number))
    for (const { number, similarity } of near.slice(0, count)) {
      this.#opened()
      const row = this.#row(this.#statements.ofNumber.all([number]))
      if (row === null)
        throw archiveUnreadable(this.#folder, `its index knows a row ${number}, and ${files.rows} does not`)
      yield { ...row, similarity }
    }
  }

  /** The numbers of rows that may be near: of a small archive all, since the index can miss some. */
  #candidates(vector: Float32Array, count: number): Iterable<bigint> {
    if (this.size <= allLooked) return Array.from({ length: this.size }, (_, i) => BigInt(i + 1))
    return this.#index.search(vector, Math.min(this.size, Math.max(refined, count)), 1).keys
  }

  get(key: string): Json | null {
    this.#opened()
    return this.#row(this.#statements.ofKey.all([key]))?.value ?? null
  }

  close(): void {
    if (this.#file === null) return
    closeSync(this.#file)
    this.#file = null
    this.#connection.close()
  }

  #opened(): number {
    if (this.#file === null) throw archiveClosed(this.#folder)
    return this.#file
  }

  #row([first]: readonly unknown[]): { readonly key: string; readonly value: Json } | null {
    if (first === undefined) return null
    try {
      const { key, value } = Row.parse(first)
      return { key, value: Json.parse(JSON.parse(value)) }
    } catch (error) {
      throw archiveUnreadable(this.#folder, `${files.rows} is damaged`, error)
    }
  }

  #similarity(file: number, number: bigint, vector: Float32Array): number {
    const { byteLength } = this.#stored
    const read = readSync(file, this.#stored, 0, byteLength, (number - 1n) * BigInt(byteLength))
    if (read < byteLength) throw archiveUnreadable(this.#folder, `${files.vectors} ends before row ${number}`)
    return cosineWith(vector, this.#stored)
  }
}

const Row = z.object({ key: z.string(), value: z.string() })

async function manifestIn(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, files.manifest), 'utf8').catch((error: unknown) => {
    throw notThere(folder, error)
  })
  const manifest = parsed(folder, text)
  for (const file of ['rows', 'vectors', 'index'] as const) {
    const { size } = await stat(join(folder, files[file])).catch((error: unknown) => {
      throw notThere(folder, error)
    })
    const wanted = manifest.bytes[file]
    if (size !== wanted)
      throw archiveUnreadable(folder, `${files[file]} has ${size} bytes, and was written with ${wanted}`)
  }
  if (manifest.bytes.vectors === manifest.size * storedBytes(manifest.embedder.dimensions)) return manifest
  throw archiveUnreadable(folder, `${files.vectors} has not one vector for each row`)
}

const notThere = (folder: string, error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'
    ? archiveMissing(folder, error)
    : archiveUnreadable(folder, error instanceof Error ? error.message : String(error), error)

function parsed(folder: string, text: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(text))
  } catch (error) {
    throw archiveUnreadable(folder, `${files.manifest} is not as it was written`, error)
  }
}
