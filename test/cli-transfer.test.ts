import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KeyId } from '../src/core/index.ts'
import { openStore } from '../src/store/index.ts'
import { traffic } from '../src/store/traffic.conformance.ts'
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

it('the list of keys hides none behind those of sessions', async () => {
  await ratchet(['keys', 'create', 'mine', '--store', store])
  const opened = await openStore({ path: join(store, 'ratchet.db') })
  const [mine] = await opened.keys.list({ limit: 1 })
  for (let i = 0; i < 3; i++) {
    await opened.keys.put({ ...mine!, id: KeyId.parse(`session${i}`), name: `s${i}`, session: `s${i}` })
  }
  await opened.close()
  const lines = async (...args: readonly string[]) =>
    (await ratchet(['keys', 'list', '--store', store, ...args])).stdout.trimEnd().split('\n')
  expect(await lines()).toEqual([expect.stringContaining('mine')])
  expect(await lines('--sessions')).toHaveLength(4)
})

it('pruning takes old traffic, and leaves imports; erasing says that what was shared goes as a whole', async () => {
  const timestamp = '2020-01-01T00:00:00Z'
  const { steps, ...old } = record('old')
  await imported(file({ ...old, steps: steps.map((step) => ({ ...step, timestamp })) }))
  const opened = await openStore({ path: join(store, 'ratchet.db') })
  const endedAt = Date.parse(timestamp)
  for (const [id, subject] of [
    ['t1', 'ada'],
    ['t2', 'bob'],
    ['t2', 'ada'],
  ] as const) {
    const change = { origin: { tenant: 'default', subject }, head: { startedAt: endedAt }, part: { endedAt } }
    await opened.traffic.append(traffic.call(id, `c-${id}-${subject}`, change))
  }
  await opened.close()
  const erased = await ratchet(['erase', '--subject', 'bob', '--yes', '--store', store])
  expect(erased.stdout).toMatch(/^1 trajectory, .* shared with others goes as a whole\.$/m)
  const pruned = await ratchet(['prune', '--before', '1d', '--yes', '--json', '--store', store])
  expect(pruned).toMatchObject({ code: 0, stdout: expect.stringContaining('"trajectories":1') as string })
  const left = await ratchet(['trajectories', '--json', '--store', store])
  expect(left.stdout.trimEnd().split('\n')).toEqual([expect.stringContaining('"origin":"import"')])
})

it('a key that cannot be is refused in words', async () => {
  const create = (...args: readonly string[]) => ratchet(['keys', 'create', ...args, '--store', store])
  for (const args of [['\u001b[2J'], [''], ['x', '--agent', ''], ['x', '--days', '-1'], ['x', '--days', '1e300']]) {
    expectRefused(await create(...args), 'input/invalid')
  }
  expect(existsSync(store)).toBe(false)
})
