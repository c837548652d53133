import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs'

/** The first byte of pages that hold cells: inner and leaf pages, of indexes and of tables. */
const innerPages: ReadonlySet<number> = new Set([2, 5])
const leafPages: ReadonlySet<number> = new Set([10, 13])
/** The database's own header, on the first page. */
const fileHeader = 100
/** Other pages begin with the number of a page, which has a zero there as long as there are fewer. */
const mostPages = 2 ** 24
const bytesAtOnce = 8 * 1024 * 1024

/**
 * Zeroes the unused space of pages in a SQLite file: `secure_delete` overwrites what is removed, but not the copies that
 * stay in the gap of a page when its cells move to another one. Between the pointers to its cells and the cells, a page
 * means nothing, so nothing that SQLite reads changes.
 *
 * To be used while nothing is in the log, nobody writes, and the connection that writes has no page in its cache.
 */
export class FreeSpace {
  readonly #path: string
  #file: number | null = null

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Zeroes the gaps of the pages from byte `from` on, of some of them.
   * @returns where to go on; `null` at the end of the file.
   */
  zero(from: number): number | null {
    // Kept open: closing any handle of a file takes the locks that SQLite has on it.
    this.#file ??= openSync(this.#path, 'r+')
    const file = this.#file
    const header = Buffer.alloc(fileHeader)
    if (readSync(file, header, 0, fileHeader, 0) < fileHeader) return null
    const written = header.readUInt16BE(16)
    const pageBytes = written === 1 ? 65_536 : written
    if (header.readUInt32BE(28) >= mostPages) return null
    const bytes = Buffer.alloc(Math.ceil(bytesAtOnce / pageBytes) * pageBytes)
    const read = readSync(file, bytes, 0, bytes.length, from)
    let changed = false
    for (let at = 0; at + pageBytes <= read; at += pageBytes) {
      const page = bytes.subarray(at, at + pageBytes)
      const gap = gapOf(page, from + at === 0 ? fileHeader : 0)
      if (gap === null || page.subarray(gap.start, gap.end).every((byte) => byte === 0)) continue
      writeSync(file, Buffer.alloc(gap.end - gap.start), 0, gap.end - gap.start, from + at + gap.start)
      changed = true
    }
    if (changed) fdatasyncSync(file)
    return read < bytes.length ? null : from + read
  }

  /** After every connection of this process. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file)
    this.#file = null
  }
}

/** What lies between a page's pointers and its cells; `null` for a page without cells, or that is not what it seems. */
function gapOf(page: Buffer, offset: number): { readonly start: number; readonly end: number } | null {
  const type = page[offset] ?? 0
  if (!innerPages.has(type) && !leafPages.has(type)) return null
  const cells = page.readUInt16BE(offset + 3)
  const start = offset + (innerPages.has(type) ? 12 : 8) + 2 * cells
  const content = page.readUInt16BE(offset + 5)
  const end = content === 0 ? 65_536 : content
  return start < end && end <= page.length ? { start, end } : null
}
