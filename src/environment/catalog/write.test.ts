import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { Message, type Task } from '../../core/index.ts'
import { corpusFromJsonl } from '../search/corpus-jsonl.ts'
import { readJsonl } from '../search/jsonl.ts'
import { SearchEnvironment } from '../search/search-environment.ts'
import { tasksFromJsonl } from '../search/tasks-jsonl.ts'
import { verify } from '../search/verify.ts'
import { loadCatalog } from './load.ts'
import { writeCatalog } from './write.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalog-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const counts = { train: 96, validation: 20, holdout: 20 }
const Demonstration = z.strictObject({ messages: z.array(Message).min(2) })

it('writes the documents and tasks as they are loaded', async () => {
  const { documents, tasks } = loadCatalog({ seed: 3, tasks: counts })
  const files = await writeCatalog(join(folder, 'new'), { seed: 3, tasks: counts })
  expect(corpusFromJsonl({ path: files.documents }).documents).toEqual(documents)
  const withoutQuestion = ({ data, ...task }: Task) => ({
    ...task,
    data: { accepted: (data as { accepted: string[] }).accepted },
  })
  const loaded = [...tasks.train, ...tasks.validation, ...tasks.holdout].map(withoutQuestion)
  expect(tasksFromJsonl({ path: files.tasks })).toEqual(loaded)
})

it('shows each wording once before it shows one again, just as the files replay it', async () => {
  const files = await writeCatalog(folder, { tasks: counts, demonstrations: 32 })
  const environment = new SearchEnvironment(corpusFromJsonl({ path: files.documents }))
  const tasks = tasksFromJsonl({ path: files.tasks })
  const shown = readJsonl({ path: files.demonstrations }, Demonstration, 'demonstration').map(({ value }) => value)
  const taskOf = (instruction = '') => tasks.find((task) => task.instruction === instruction && task.split === 'train')!
  expect(shown).toHaveLength(32)
  expect(new Set(shown.map(({ messages }) => taskOf(messages[0]?.content).family)).size).toBe(32)
  for (const { messages } of shown) {
    const episode = environment.open(taskOf(messages[0]?.content), 0)
    const replayed: Message[] = [...episode.opening]
    for (const message of messages) {
      if (message.role !== 'assistant') continue
      replayed.push(message, ...episode.step({ kind: 'calls', calls: message.toolCalls ?? [] }).messages)
    }
    expect(replayed).toEqual(messages)
    expect(verify(episode.close())).toBe(1)
  }
})

it('writes the same bytes for the same seed', async () => {
  const once = await writeCatalog(join(folder, 'a'), { seed: 7, tasks: counts })
  const again = await writeCatalog(join(folder, 'b'), { seed: 7, tasks: counts })
  const other = await writeCatalog(join(folder, 'c'), { seed: 8, tasks: counts })
  const bytes = (path: string) => readFileSync(path, 'utf8')
  for (const name of ['documents', 'tasks', 'demonstrations'] as const)
    expect(bytes(again[name])).toBe(bytes(once[name]))
  expect(bytes(other.tasks)).not.toBe(bytes(once.tasks))
})
