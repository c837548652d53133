import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Message, rng } from '../../src/core/index.ts'
import type { Split } from '../../src/core/index.ts'
import { writeTinyModel } from './model.ts'

const colours = { lemon: 'yellow', cherry: 'red', plum: 'purple', lime: 'green' } as const
type Fruit = keyof typeof colours
const fruits = Object.keys(colours) as Fruit[]

/** How many tasks each split holds. */
export const tinySplits = { train: 32, validation: 16, holdout: 40 } as const

/** One line of the tasks' JSONL. */
export interface TinyTask {
  readonly id: string
  readonly instruction: string
  readonly answer: string
  readonly split: Split
}

/** Documents about fruits and questions about their colours: search, open, answer, all in words that are one token each. */
export function tinyJob() {
  const documents = fruits.map((fruit) => ({ id: fruit, title: fruit, lines: [`colour ${colours[fruit]}`] }))
  const splits = Object.entries(tinySplits) as [Split, number][]
  const numbers = rng('tiny-job').shuffle(Array.from({ length: 100 }, (_, i) => i + 100))
  const tasks = splits.flatMap(([split, count]) =>
    numbers.splice(0, count).map((number, i): TinyTask => {
      const fruit = fruits[i % fruits.length] as Fruit
      return { id: `${split}-${i}`, instruction: `${number} colour of ${fruit}`, answer: colours[fruit], split }
    }),
  )
  const demonstrations = numbers.slice(0, 12).map((number, i) => ({
    messages: demonstrationOf(fruits[i % fruits.length] as Fruit, number),
  }))
  return { documents, tasks, demonstrations }
}

function demonstrationOf(fruit: Fruit, number: number): Message[] {
  const call = (name: string, key: string, value: string): Message => ({
    role: 'assistant',
    content: '',
    toolCalls: [{ name, arguments: { [key]: value } }],
  })
  const result = (name: string, content: string): Message => ({ role: 'tool', name, content })
  return [
    { role: 'user', content: `${number} colour of ${fruit}` },
    call('search', 'query', fruit),
    result('search', fruit),
    call('open', 'title', fruit),
    result('open', `colour ${colours[fruit]}`),
    call('answer', 'text', colours[fruit]),
    result('answer', 'answered'),
  ]
}

/** The words of the job, each a token of its model. */
const words = [...fruits, ...Object.values(colours), 'search', 'open', 'answer', 'colour', 'of']

/** The files of a tiny job. */
export interface TinyFiles {
  readonly model: string
  readonly corpus: string
  readonly tasks: string
  readonly demonstrations: string
  /** Configuration that names all of them, by absolute path. */
  readonly config: string
}

/** Writes the tiny model, its job as JSONL, and a configuration whose whole run takes seconds. */
export function writeTinyJob(folder: string, change: (config: TinyConfig) => object = (config) => config): TinyFiles {
  mkdirSync(folder, { recursive: true })
  const files: TinyFiles = {
    model: join(folder, 'tiny-llama'),
    corpus: join(folder, 'documents.jsonl'),
    tasks: join(folder, 'tasks.jsonl'),
    demonstrations: join(folder, 'demonstrations.jsonl'),
    config: join(folder, 'learn.json'),
  }
  const { documents, tasks, demonstrations } = tinyJob()
  writeTinyModel(files.model, { words })
  writeFileSync(files.corpus, jsonl(documents))
  writeFileSync(files.tasks, jsonl(rng('tiny-job', 0).shuffle(tasks)))
  writeFileSync(files.demonstrations, jsonl(demonstrations))
  writeFileSync(files.config, JSON.stringify(change(tinyConfig(files)), null, 2))
  return files
}

export type TinyConfig = ReturnType<typeof tinyConfig>

function tinyConfig({ model, corpus, tasks, demonstrations }: TinyFiles) {
  return {
    agent: 'greengrocer',
    model,
    // Steps were chosen in it; another processor would choose another.
    precision: 'float32',
    environment: { corpus, tasks },
    demonstrations,
    adapter: { rank: 16, alpha: 32 },
    prime: { learningRate: 6e-3, batchSize: 4 },
    policy: { learningRate: 3e-3, warmupUpdates: 0 },
    episode: { turns: 4, tokensPerTurn: 6 },
    // Imitation ends early enough that the gate can see what practice adds to it.
    schedule: {
      primePasses: 7,
      augmentation: 0,
      updates: 10,
      tasks: 8,
      attempts: 6,
      concurrency: 48,
      validateEvery: 2,
      patience: null,
    },
  }
}

/** One JSON object a line. */
export const jsonl = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
