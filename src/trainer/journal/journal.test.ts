import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { TrainerEvent } from './events.ts'
import { Journal } from './journal.ts'

const fresh = () => join(mkdtempSync(join(tmpdir(), 'ratchet-journal-')), 'journal.jsonl')
const session = (id: string): TrainerEvent => ({ type: 'session', session: { id, owner: 'a' } })
const opened = async (path: string) => {
  const events: TrainerEvent[] = []
  return { events, journal: await Journal.open(path, (event) => void events.push(event)) }
}

it('tells what was appended, in order, and again when it is opened anew', async () => {
  const path = fresh()
  const first = await opened(path)
  const ids = ['a', 'b', 'c', 'd']
  await Promise.all(ids.map((id) => first.journal.append(session(id))))
  await first.journal.close()
  expect(first.events).toEqual(ids.map(session))
  const second = await opened(path)
  expect(second.events).toEqual(first.events)
  await second.journal.close()
})

it('drops a line that a crash cut off at any byte, and goes on behind the last whole one', async () => {
  const path = fresh()
  const line = `${JSON.stringify(session('cut'))}\n`
  for (let length = 0; length < line.length; length += 7) {
    writeFileSync(path, `${JSON.stringify(session('whole'))}\n${line.slice(0, length)}`)
    const { events, journal } = await opened(path)
    await journal.append(session('next'))
    await journal.close()
    expect(events).toEqual([session('whole'), session('next')])
    expect((await opened(path)).events).toEqual(events)
  }
})

it('refuses a whole line that it cannot read', async () => {
  const path = fresh()
  writeFileSync(path, `${JSON.stringify(session('a'))}\n`)
  appendFileSync(path, '{"type":"nonsense"}\n')
  const before = readFileSync(path)
  await expect(opened(path)).rejects.toMatchObject({
    code: 'trainer/damaged-journal',
    message: expect.stringMatching(/Line 2/),
  })
  expect(readFileSync(path)).toEqual(before)
})

it('is rewritten shorter, between what was appended before and after', async () => {
  const path = fresh()
  const { events, journal } = await opened(path)
  await Promise.all([journal.append(session('a')), journal.append(session('b'))])
  await Promise.all([journal.rewrite(() => [session(`short of ${events.length}`)]), journal.append(session('c'))])
  await journal.close()
  expect((await opened(path)).events).toEqual([session('short of 2'), session('c')])
})
