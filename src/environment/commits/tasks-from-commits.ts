import { contentHash, type Json, type Task, TaskId } from '../../core/index.ts'
import { runInSandbox } from '../sandbox/index.ts'
import { splitByHash } from '../split-by-hash.ts'
import { CommitEnvironment, type CommitTaskData, type CommitTest } from './commit-environment.ts'
import { type ChangedFile, changeOf, commitsOf } from './git-history.ts'

/** A call of a function that the changed file defines. */
export interface TriedCall {
  readonly call: string
  readonly args: readonly Json[]
}

/** How commits become tasks. */
export interface CommitOptions {
  /**
   * Calls to try on a file before and after a commit: from a model, from a generator, or by hand. They say nothing of what is
   * right: what the commit's own code gives is. The first 100 are tried.
   */
  readonly calls: (changed: ChangedFile) => Promise<readonly TriedCall[]> | readonly TriedCall[]
  /** Commits that are looked at, the newest first, 1,000 at most. Default 200. */
  readonly commits?: number
}

/** Tasks, the environment that opens them, and which commits are none and why. */
export interface CommitTasks {
  readonly environment: CommitEnvironment
  readonly tasks: readonly Task[]
  readonly skipped: readonly { readonly commit: string; readonly reason: string }[]
}

/** Characters of a commit's message, and of a file, that a task shows. */
const longestMessage = 2_000
const longestFile = 8_000
/** Characters of a value, as JSON, that a test expects. */
const longestValue = 10_000

/**
 * Tasks from the history of a folder: the file as it was before a commit, and what its author said of the change (after
 * "SYNGEN" of Jain et al., "R2E-Gym", 2025). Tests are made by running both versions in the sandbox: a task has at least one
 * that fails before the commit and passes after it; those that pass before and after are kept, too. Only commits that change
 * one JavaScript file (`.js`, `.mjs`, `.cjs`) that imports nothing can be tasks: nothing else runs in the sandbox. No words
 * are written anew: the instruction is as good as the message of the commit.
 * @param folder of a repository; what is in it is data, and is run in the sandbox alone.
 * @throws CommitsError where there is no history to read; InputError for a call of what is no name; and what `calls` throws.
 */
export async function tasksFromCommits(folder: string, { calls, commits = 200 }: CommitOptions): Promise<CommitTasks> {
  const tasks: Task[] = []
  const skipped: { commit: string; reason: string }[] = []
  for (const commit of await commitsOf(folder, commits)) {
    const made = await madeFrom(folder, commit, calls)
    if (typeof made === 'string') skipped.push({ commit, reason: made })
    else tasks.push({ id: TaskId.parse(`commit/${commit}`), ...made })
  }
  return { environment: new CommitEnvironment(), tasks, skipped }
}

/** @returns why it is none, where it is none. */
async function madeFrom(
  folder: string,
  commit: string,
  calls: CommitOptions['calls'],
): Promise<Omit<Task, 'id'> | string> {
  const change = await changeOf(folder, commit)
  if (change === null) return 'it is too large, or not there'
  const [file, another] = change.files
  if (file === undefined || another !== undefined) return `it changes ${change.files.length} JavaScript files, not one`
  const [before, after] = [asScript(file.before), asScript(file.after)]
  if (before.length > longestFile) return `the file has more than ${longestFile} characters`
  const { fixed, known } = await testsOf(before, after, (await calls(file)).slice(0, 100))
  if (fixed.length === 0) return 'no call fails before it and passes after it'
  const instruction = [
    `Change the file as its author says. Answer with the whole file between ${fence} marks; write no import and no export.`,
    `The change:\n${shown(change.message).slice(0, longestMessage)}`,
    `The file:\n${fence}js\n${before}\n${fence}`,
  ].join('\n\n')
  const data: CommitTaskData = { tests: [...fixed, ...known], known }
  // All commits to one file are in one split: a later one shows what an earlier one came to.
  const split = splitByHash(file.path, { train: 60, validation: 20 })
  return { instruction, data: { ...data }, split, family: file.path }
}

const fence = '```'

/** The sandbox runs scripts: `export` says nothing there. */
const asScript = (code: string): string =>
  code.replace(/^export (?:default )?(?=(?:async )?function\b|const\b|let\b|class\b)/gm, '')

const shown = (text: string): string => text.replace(/[^\P{C}\n\t]/gu, '?')

async function testsOf(before: string, after: string, calls: readonly TriedCall[]) {
  const [fixed, known]: [CommitTest[], CommitTest[]] = [[], []]
  for (const { call, args } of calls) {
    const right = await outputOf(after, call, args)
    // Twice: what is drawn by lot is no test.
    if (right === undefined || !same(right, await outputOf(after, call, args))) continue
    const tests = same(right, await outputOf(before, call, args)) ? known : fixed
    tests.push({ call, args: [...args], returns: right })
  }
  return { fixed, known }
}

const same = (a: Json, b: Json | undefined) => b !== undefined && contentHash(a) === contentHash(b)

/** `undefined` where the code gives nothing that a test could expect. */
async function outputOf(code: string, name: string, args: readonly Json[]): Promise<Json | undefined> {
  const outcome = await runInSandbox(code, { call: { name, args: [...args] }, steps: 1_000_000, thread: 'kept' })
  if (outcome.kind !== 'returned' || JSON.stringify(outcome.value).length > longestValue) return undefined
  return outcome.value
}
