import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ended, ratchet, startRatchet } from './tiny/ratchet.ts'

let folder: string
let store: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-transfer-'))
})
beforeEach(() => {
  store = join(mkdtempSync(join(folder, 'case-')), 'store')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Without times: when it was made is when it is imported. */
const record = (said: string) => ({
  schema_version: 'ATIF-v1.7',
  session_id: said,
  agent: { name: 'a', version: '1' },
  steps: [
    { step_id: 1, source: 'user', message: said },
    { step_id: 2, source: 'agent', message: 'x'.repeat(2_000) },
  ],
})

function file(...records: readonly object[]): string {
  const path = `${store}.jsonl`
  writeFileSync(path, records.map((one) => `${JSON.stringify(one)}\n`).join(''))
  return path
}

const imported = async (path: string, ...more: readonly string[]) =>
  ratchet(['import', path, '--format', 'atif', '--json', '--store', store, ...more])

function expectRefused({ code, stderr }: Ended, errorCode: string): void {
  expect(stderr).toContain(`[${errorCode}]`)
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(code).toBe(1)
}

describe('importing', () => {
  it('again adds what is new, and nothing twice', async () => {
    expect((await imported(file(record('one'), record('one')))).stdout).toContain('"imported":2')
    const again = await imported(file(record('one'), record('two')))
    expect(again).toMatchObject({ code: 0, stdout: '{"imported":1,"known":1,"split":"holdout"}\n' })
    expectRefused(await imported(file(record('two')), '--split', 'train'), 'input/imported-before')
  })

  it('what is not there makes no store', async () => {
    for (const path of [join(folder, 'none'), folder]) expectRefused(await imported(path), 'input/unreadable-file')
    expect(existsSync(store)).toBe(false)
  })
})

describe('exporting', () => {
  it('overwrites nothing, and ends when its reader does', async () => {
    await imported(file(...Array.from({ length: 500 }, (_, i) => record(`r${i}`))))
    const args = ['export', '--format', 'atif', '--store', store]
    const mine = join(folder, 'mine')
    writeFileSync(mine, 'mine')
    expectRefused(await ratchet([...args, '--out', mine]), 'input/unwritable-file')
    expect(readFileSync(mine, 'utf8')).toBe('mine')

    const { child, ended } = startRatchet(args)
    child.stdout.once('data', () => child.stdout.destroy())
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})

it('a key that cannot be is refused in words', async () => {
  const create = (...args: readonly string[]) => ratchet(['keys', 'create', ...args, '--store', store])
  for (const args of [['\u001b[2J'], [''], ['x', '--agent', ''], ['x', '--days', '-1'], ['x', '--days', '1e300']]) {
    expectRefused(await create(...args), 'input/invalid')
  }
  expect(existsSync(store)).toBe(false)
})
