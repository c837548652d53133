import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Task } from '../../core/index.ts'
import { play } from '../play.ts'
import { readSearchTask } from '../search/task-data.ts'
import { verify } from '../search/verify.ts'
import { type CatalogOptions, loadCatalog } from './load.ts'
import { catalogExpert } from './policies.ts'

/** What is written, beside the documents. */
export interface CatalogFilesOptions extends CatalogOptions {
  /** How many training tasks the expert shows. Default 32. */
  readonly demonstrations?: number
}

/** Paths of what {@link writeCatalog} wrote. */
export interface CatalogFiles {
  readonly documents: string
  readonly tasks: string
  readonly demonstrations: string
}

/**
 * Writes the catalogue as the three files of a job of one's own (docs/learn.md): `documents.jsonl`, `tasks.jsonl` and
 * `demonstrations.jsonl`. `ratchet learn --config` reads them; equal options write equal bytes.
 * @param folder is made where it is missing; files of these names in it are replaced.
 * @throws MalformedCorpusError as {@link loadCatalog}; an `Error` of the file system when the folder cannot be written.
 */
export async function writeCatalog(folder: string, options: CatalogFilesOptions = {}): Promise<CatalogFiles> {
  const { environment, documents, tasks } = loadCatalog(options)
  const shown = oneOfEachFamily(tasks.train).slice(0, options.demonstrations ?? 32)
  const plays = await Promise.all(shown.map((task) => play(environment, catalogExpert, task, verify)))
  mkdirSync(folder, { recursive: true })
  const write = (name: string, rows: readonly unknown[]) => {
    const path = join(folder, name)
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    return path
  }
  return {
    documents: write('documents.jsonl', documents),
    tasks: write('tasks.jsonl', [...tasks.train, ...tasks.validation, ...tasks.holdout].map(taskLine)),
    demonstrations: write(
      'demonstrations.jsonl',
      plays.map(({ messages }) => ({ messages })),
    ),
  }
}

function taskLine(task: Task): Readonly<Record<string, unknown>> {
  const { id, instruction, split, tier, family } = task
  return { id, instruction, answer: readSearchTask(task).accepted, split, tier, family }
}

/** The tasks in an order in which no family comes again before every family came. */
function oneOfEachFamily(tasks: readonly Task[]): Task[] {
  const turns = new Map<string, number>()
  const ranked = tasks.map((task) => {
    const turn = turns.get(task.family ?? '') ?? 0
    turns.set(task.family ?? '', turn + 1)
    return { task, turn }
  })
  return ranked.sort((a, b) => a.turn - b.turn).map(({ task }) => task)
}
