import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LearnConfig } from '../src/cli/index.ts'
import { PullRequestReview } from '../src/codec/index.ts'
import { parseInput } from '../src/core/index.ts'
import { ServeConfig } from '../src/gateway/index.ts'
import { LearnFromTrafficConfig } from '../src/learn/index.ts'
import { knownBudget, knownOptions } from '../src/learn/known-options.ts'
import { demonstrationsFromJsonl } from '../src/environment/index.ts'
import { implicitKinds } from '../src/reward/index.ts'
import { corpusFromJsonl, tasksFromJsonl } from '../src/environment/search/index.ts'
import { commandsOf, isRunElsewhere, missingParts } from './docs/commands.ts'
import { type Block, type Markdown, readMarkdown } from './docs/markdown.ts'
import { repository, Scratch } from './docs/scratch.ts'
import { configurationRows, errorCodes, refreshed, unexplained } from './docs/tables.ts'
import { compile, type Compiled } from './docs/typescript.ts'
import { Summary } from './tiny/summary.ts'

/*
 * Every code block of the documentation is executed:
 *   ts              compiled against the package's exports, and run
 *   ts shortened    compiled and run as it stands, but for a schedule of seconds that is put into its call of `learn`
 *   ts check-only   compiled; the text beside it says that it is not run
 *   sh              each command is run in a copy of the repository, or by the suite that `commands.ts` names
 *   sh serving      a gateway: started, and kept running for the blocks that follow in the same document
 *   sh measurement  not run: what it names must be there, and the text beside it says what it measures
 *   json FILE       a configuration, written for the commands that follow
 *   json Summary    the last line of `ratchet learn --json`
 *   jsonl FILE      documents, tasks, demonstrations or reviews, written for the commands that follow
 *   js FILE         a program, written for the commands that follow
 *   text            something to look at
 * A block of any other kind fails.
 */

const inDocs = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' }).toSorted()
const paths = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...inDocs.map((file) => `docs/${file}`)]
const documents = paths
  .filter((path) => path.endsWith('.md'))
  .map((path) => {
    const text = readFileSync(join(repository, path), 'utf8')
    return { path, text, markdown: readMarkdown(text) }
  })

let scratch: Scratch
beforeAll(() => {
  scratch = new Scratch()
})
afterAll(() => scratch.remove())

const inSeconds = { primePasses: 2, updates: 1, tasks: 4, attempts: 2, rounds: 1, validationTasks: 4, holdoutTasks: 8 }

/** What is run of a TypeScript block. */
function sourceOf({ flags, content }: Block): string {
  if (!flags.includes('shortened')) return content
  const call = /(await learn\(\w+, \{)/
  expect(content, 'a shortened program calls learn').toMatch(call)
  return content.replace(call, `$1 schedule: ${JSON.stringify(inSeconds)},`)
}

/** Reads a JSONL block as the job that its file's name promises. */
function readRows(file: string, text: string): void {
  if (file.startsWith('documents')) corpusFromJsonl({ text })
  else if (file.startsWith('tasks')) tasksFromJsonl({ text })
  else if (file.startsWith('demonstrations')) demonstrationsFromJsonl({ text })
  else if (file.startsWith('reviews'))
    for (const line of text.trim().split('\n')) parseInput(PullRequestReview, JSON.parse(line), file)
  else throw new Error(`${file} is neither documents, tasks, demonstrations nor reviews`)
}

async function runShell({ content }: Block): Promise<void> {
  for (const command of commandsOf(content)) {
    if (isRunElsewhere(command)) continue
    const { code, output } = await scratch.run(command)
    expect(code, `${command}\n${output}`).toBe(0)
  }
}

async function runSnippet(where: string, compiled: readonly Compiled[]): Promise<void> {
  const found = compiled.find((one) => one.where === where)
  const { code, output } = await scratch.run(`node ${found?.path}`)
  expect(code, output).toBe(0)
}

/** Executes what a block is; knows no other kinds. */
async function execute(block: Block, where: string, compiled: readonly Compiled[]): Promise<void> {
  const { language, flags, content, beside } = block
  switch ([language, ...flags.map((flag) => (flag.includes('.') ? 'FILE' : flag))].join(' ')) {
    case 'ts':
    case 'ts shortened':
      return runSnippet(where, compiled)
    case 'ts check-only':
      expect(compiled.map((one) => one.where)).toContain(where)
      return expect(beside, 'the text beside it says that it is not run').toMatch(/not run/)
    case 'sh':
      return runShell(block)
    case 'sh serving':
      return scratch.serve(content)
    case 'sh measurement':
      expect(beside, 'the text beside it says what is measured').toMatch(/measure|minutes|tokens\/s|ratio/i)
      return expect(commandsOf(content).flatMap(missingParts)).toEqual([])
    case 'sh check-only':
      expect(beside, 'the text beside it says that it is not run').toMatch(/not run/)
      return expect(commandsOf(content).flatMap(missingParts)).toEqual([])
    case 'json FILE':
      parseInput(flags[0]?.startsWith('serve') ? ServeConfig : LearnConfig, JSON.parse(content), where)
      return scratch.write(flags[0] ?? '', content)
    case 'json Summary':
      parseInput(Summary, JSON.parse(content), where)
      return
    case 'jsonl FILE':
      readRows(flags[0] ?? '', content)
      return scratch.write(flags[0] ?? '', `${content}\n`)
    case 'js FILE':
      return scratch.write(flags[0] ?? '', `${content}\n`)
    case 'text':
      return
    default:
      throw new Error(`"${[language, ...flags].join(' ')}" is no kind of block that the tests can execute`)
  }
}

describe('every code block is executed', () => {
  let compiled: readonly Compiled[]
  const whereIs = (path: string, { line }: Block) => `${path}:${line}`
  beforeAll(async () => {
    const snippets = documents.flatMap(({ path, markdown: { blocks } }) =>
      blocks.flatMap((block) =>
        block.language === 'ts' ? [{ where: whereIs(path, block), source: sourceOf(block) }] : [],
      ),
    )
    compiled = await compile(snippets, scratch)
  })
  const blocks = documents.flatMap(({ path, markdown }) =>
    markdown.blocks.map((block) => ({ block, where: whereIs(path, block) })),
  )
  let document = ''
  it.each(blocks)('$where', async ({ block, where }) => {
    const [path = ''] = where.split(':')
    if (path !== document) await scratch.stopServing()
    document = path
    await execute(block, where, compiled)
  })
  afterAll(() => scratch.stopServing())
})

describe('every link leads somewhere', () => {
  const anchorsOf = (path: string): Markdown['anchors'] =>
    readMarkdown(readFileSync(join(repository, path), 'utf8')).anchors
  const links = documents.flatMap(({ path, markdown }) =>
    markdown.links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => ({ path, link })),
  )
  it.each(links)('$path: $link', ({ path, link }) => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : normalize(join(dirname(path), file))
    expect(existsSync(join(repository, target)), `${target} does not exist`).toBe(true)
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor)
  })
})

/** What a program may tell a run over rollouts, and of one episode. */
const programOptions = () =>
  Object.keys(knownOptions.rollouts).flatMap((option) => [
    [`\`${option}\``],
    ...(option === 'budget' ? Object.keys(knownBudget).map((key) => [`\`budget.${key}\``]) : []),
  ])

describe('every table that is made from the source is up to date (npx vitest -u brings it there)', () => {
  it.each([
    ['docs/learn.md', ['key', 'type', 'default', 'meaning'], () => configurationRows(LearnConfig)],
    ['docs/learn.md', ['option', 'what it says'], programOptions],
    [
      'docs/gateway.md',
      ['key', 'type', 'default', 'meaning'],
      () => configurationRows(ServeConfig, ['agents[].learn']),
    ],
    ['docs/online.md', ['key', 'type', 'default', 'meaning'], () => configurationRows(LearnFromTrafficConfig)],
    [
      'docs/signals.md',
      ['kind', 'value', 'what happened'],
      () => Object.entries(implicitKinds).map(([kind, { value }]) => [`\`${kind}\``, String(value)]),
    ],
    [
      'docs/errors.md',
      ['code', 'what to do'],
      () => errorCodes(join(repository, 'src')).map((code) => [`\`${code}\``]),
    ],
  ] as const)('%s', async (path, headings, truth) => {
    const text = readFileSync(join(repository, path), 'utf8')
    await expect(refreshed(text, headings, truth())).toMatchFileSnapshot(join(repository, path))
    expect(unexplained(text, headings)).toEqual([])
  })
})
