import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TrainerEvent } from './events.ts'
import { Journal } from './journal.ts'
import { readLines, writeLines } from './lines.ts'

const fresh = () => join(mkdtempSync(join(tmpdir(), 'ratchet-lines-')), 'lines')

it('reads the lines that were written, wherever a piece of the file ends', async () => {
  const line = fc.record({ word: fc.constantFrom('a', 'ü', '🦎', '\u2028'), times: fc.constantFrom(0, 1, 7, 350_000) })
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 9 }), fc.string({ unit: 'grapheme' }), async (parts, cut) => {
      const path = fresh()
      const lines = parts.map(({ word, times }) => word.repeat(times))
      const file = await open(path, 'a')
      const bytes = await writeLines(
        file,
        lines.map((one) => `${one}\n`),
      )
      await file.appendFile(cut.replaceAll('\n', ''))
      await file.close()
      const read: string[] = []
      const sizes = await readLines(path, (one) => void read.push(one))
      expect(read).toEqual(lines)
      expect(sizes).toEqual({ whole: bytes, all: readFileSync(path).length })
    }),
    { numRuns: 25 },
  )
})

const session = (id: string): TrainerEvent => ({ type: 'session', session: { id, owner: 'a'.repeat(1000) } })
/** How often the event loop turned between the first and the last call. */
function turnsBetween() {
  const at: number[] = []
  let [turns, over] = [0, false]
  const turn = () => {
    turns += 1
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  return { call: () => void at.push(turns), end: () => ((over = true), (at.at(-1) ?? 0) - (at[0] ?? 0)) }
}

it('a long journal is read and written anew while the event loop turns', async () => {
  const path = fresh()
  const journal = await Journal.open(path, () => {})
  const writing = turnsBetween()
  function* many() {
    for (let i = 0; i < 6000; i++) {
      writing.call()
      yield session(`${i}`)
    }
  }
  await journal.rewrite(many)
  expect(writing.end()).toBeGreaterThan(3)
  await journal.close()
  const reading = turnsBetween()
  await (await Journal.open(path, reading.call)).close()
  expect(reading.end()).toBeGreaterThan(3)
})

it('a journal is long again only when it has doubled since it was written anew', async () => {
  const path = fresh()
  writeFileSync(path, '')
  const journal = await Journal.open(path, () => {})
  const most = 10_000
  const add = async (count: number) => {
    for (let i = 0; i < count; i++) await journal.append(session(`${i}`))
  }
  await add(9)
  expect(journal.isLongerThan(most)).toBe(false)
  await add(3)
  expect(journal.isLongerThan(most)).toBe(true)
  await journal.rewrite(() => Array.from({ length: 20 }, (_, i) => session(`${i}`)))
  await add(15)
  expect(journal.isLongerThan(most)).toBe(false)
  await add(10)
  expect(journal.isLongerThan(most)).toBe(true)
  await journal.close()
})
