import type { Index } from 'usearch'
import { createHash } from 'node:crypto'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { canonicalJson, type Embedder, type Json, parseInput } from '../../core/index.ts'
import { archiveRows } from '../errors/archive-error.ts'
import { openSqlite, type SqliteConnection } from '../sqlite-driver.ts'
import { stored } from './vector-bytes.ts'
import { vectorIndex } from './vector-index.ts'
import { writing } from './writing.ts'

/** A row to archive. */
export interface ArchiveRow {
  /** Of rows with one key, the first stays. */
  readonly key: string
  /** What it is found by. */
  readonly text: string
  readonly value: Json
}

export interface ArchiveProgress {
  /** Rows that were written so far. */
  readonly rows: number
  readonly perSecond: number
}

export interface BuildArchiveOptions {
  readonly rows: Iterable<ArchiveRow> | AsyncIterable<ArchiveRow>
  /** What the rows are, for who opens it. */
  readonly about: Json
  readonly embedder: Embedder
  /** Threads that join rows to the index. Default: one for each core. */
  readonly threads?: number
  /** Is told after each thousand rows. */
  readonly onProgress?: (progress: ArchiveProgress) => void
}

/** What came of writing. */
export interface BuiltArchive {
  readonly id: string
  readonly size: number
  /** Rows that were left out: their key was there already, or their text says nothing to the embedder. */
  readonly left: { readonly sameKey: number; readonly noVector: number }
}

const atOnce = 1_000

/** Writes rows, their vectors, and the index of these. @param folder how errors call the archive. */
export async function writeRows(
  folder: string,
  paths: { readonly rows: string; readonly vectors: string; readonly index: string },
  options: BuildArchiveOptions,
): Promise<BuiltArchive> {
  const { rows, embedder, about, onProgress } = options
  const threads = parseInput(z.int().positive(), options.threads ?? availableParallelism(), 'The threads')
  const index = await vectorIndex(embedder.dimensions)
  const file = await writing(folder, () => openSync(paths.vectors, 'wx'))
  try {
    const connection = await openSqlite(paths.rows)
    try {
      const began = performance.now()
      const writer = new RowWriter(connection, file, embedder, about)
      for await (const batch of batches(rows)) {
        const vectors = await embedder.embed(batch.map(({ text }) => text))
        const ready = batch.map((row, i) => rowOf(row, sized(embedder, vectors[i])))
        const first = writer.size + 1
        const written = await writing(folder, () => writer.write(ready))
        await writing(folder, () => join(index, first, written, threads))
        onProgress?.({ rows: writer.size, perSecond: (1_000 * writer.size) / (performance.now() - began) })
      }
      if (writer.size === 0) throw archiveRows('No row has a text that says anything, so there is nothing to archive.')
      await writing(folder, () => index.save(paths.index))
      return writer.end()
    } finally {
      connection.close()
    }
  } finally {
    closeSync(file)
  }
}

/** A row as it is written. */
interface ReadyRow {
  readonly key: string
  readonly text: string
  readonly vector: Float32Array
}

const rowOf = ({ key, value }: ArchiveRow, vector: Float32Array): ReadyRow => ({
  key,
  text: canonicalJson(value),
  vector,
})

/** Vectors that join the index at once: between them others are served. */
const joinedAtOnce = 100

async function join(index: Index, first: number, vectors: readonly Float32Array[], threads: number): Promise<void> {
  for (let start = 0; start < vectors.length; start += joinedAtOnce) {
    const some = vectors.slice(start, start + joinedAtOnce)
    index.add(
      BigUint64Array.from(some, (_, i) => BigInt(first + start + i)),
      some,
      threads,
    )
    await nextTurn()
  }
}

class RowWriter {
  readonly #connection: SqliteConnection
  readonly #file: number
  readonly #insert: (values: readonly unknown[]) => boolean
  readonly #hash = createHash('sha256')
  readonly #left = { sameKey: 0, noVector: 0 }
  size = 0

  constructor(connection: SqliteConnection, file: number, embedder: Embedder, about: Json) {
    this.#connection = connection
    this.#file = file
    this.#hash.update(canonicalJson([embedder.name, embedder.dimensions, about]))
    connection.exec(`pragma journal_mode = off;
      create table rows (n integer primary key, key text not null unique, value text not null)`)
    const insert = connection.database.prepare('insert or ignore into rows (n, key, value) values (?, ?, ?)')
    this.#insert = (values) => Number(insert.run(values).changes) > 0
  }

  /** @returns the vectors of the rows that were not left out. */
  write(rows: readonly ReadyRow[]): readonly Float32Array[] {
    this.#connection.exec('begin')
    const written = rows.flatMap((row) => (this.#put(row) ? row.vector : []))
    this.#connection.exec('commit')
    return written
  }

  #put({ key, text, vector }: ReadyRow): boolean {
    if (vector.every((number) => number === 0)) {
      this.#left.noVector++
      return false
    }
    if (!this.#insert([this.size + 1, key, text])) {
      this.#left.sameKey++
      return false
    }
    const numbers = stored(vector)
    writeFileSync(this.#file, numbers)
    this.#hash.update(canonicalJson([key, text])).update(numbers)
    this.size++
    return true
  }

  end(): BuiltArchive {
    return { id: this.#hash.digest('hex'), size: this.size, left: this.#left }
  }
}

async function* batches(rows: BuildArchiveOptions['rows']): AsyncGenerator<readonly ArchiveRow[]> {
  let batch: ArchiveRow[] = []
  for await (const row of rows) {
    batch.push(row)
    if (batch.length < atOnce) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function sized({ name, dimensions }: Embedder, vector: Float32Array | undefined): Float32Array {
  if (vector?.length !== dimensions) {
    const found = vector?.length ?? 0
    throw archiveRows(`The embedder "${name}" gives vectors of ${dimensions} numbers, and one has ${found}.`)
  }
  if (!vector.every(Number.isFinite)) {
    throw archiveRows(`The embedder "${name}" gives vectors of numbers, and one holds what is none.`)
  }
  return vector
}
