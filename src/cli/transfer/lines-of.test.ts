import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Line, linesOf, openLines } from './lines-of.ts'

const folder = mkdtempSync(join(tmpdir(), 'ratchet-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function read(content: string, longest?: number): Promise<Line[]> {
  const file = join(folder, 'file')
  writeFileSync(file, content)
  const lines: Line[] = []
  for await (const line of linesOf(file, await openLines(file), longest)) lines.push(line)
  return lines
}

it('are what is between line ends, of Unix and of Windows, without a byte order mark and without empty ones', async () => {
  expect(await read('\uFEFFa\r\n\r\n  \nb\u2028c\nü')).toEqual([
    { line: 'a', number: 1 },
    { line: 'b\u2028c', number: 4 },
    { line: 'ü', number: 5 },
  ])
  expect(await read('')).toEqual([])
})

it('may be longer than what is read at once, and be cut there in the middle of a character', async () => {
  const long = `x${'ü'.repeat(400_000)}`
  expect(await read(`${long}\nb`)).toEqual([
    { line: long, number: 1 },
    { line: 'b', number: 2 },
  ])
})

it('end with an error in words when one is longer than any record', async () => {
  await expect(read(`{}\n${'x'.repeat(3 * 1024 * 1024)}`, 1024 * 1024)).rejects.toMatchObject({
    code: 'input/bad-record',
    message: expect.stringMatching(/^Line 2 of .*file is longer than 1 MiB\.$/) as string,
  })
})

it('are not read from what is not there, or a folder', async () => {
  for (const path of [join(folder, 'none'), folder]) {
    await expect(openLines(path)).rejects.toMatchObject({ code: 'input/unreadable-file' })
  }
})
