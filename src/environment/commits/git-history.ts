import { execFile } from 'node:child_process'
import { devNull } from 'node:os'
import { promisify } from 'node:util'
import { CommitsError } from './commits-error.ts'

/** One file that a commit changed, before and after. */
export interface ChangedFile {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** More than this of one file, one message or one list of files is not read. In bytes. */
const longest = 65_536

const settings = ['core.fsmonitor=false', `core.hooksPath=${devNull}`, 'protocol.allow=never'].flatMap((one) => [
  '-c',
  one,
])
const environment = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  // A partial clone fetches what it lacks, by a program that its own configuration names.
  GIT_ALLOW_PROTOCOL: '',
  GIT_NO_LAZY_FETCH: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TERMINAL_PROMPT: '0',
}

/**
 * Asks the `git` of this machine. The repository is data: its own configuration cannot make git start a program or fetch
 * anything, and nothing of it is checked out.
 */
async function git(folder: string, args: readonly string[]): Promise<string> {
  const options = { env: { PATH: process.env['PATH'], ...environment }, maxBuffer: longest, timeout: 30_000 }
  return (await promisify(execFile)('git', ['-C', folder, '--no-pager', ...settings, ...args], options)).stdout
}

/**
 * Ids of commits with one parent, the newest first, 1,000 at most.
 * @throws CommitsError where there is no history to read.
 */
export async function commitsOf(folder: string, most: number): Promise<readonly string[]> {
  try {
    const count = `--max-count=${Math.min(most, 1_000)}`
    return (await git(folder, ['rev-list', '--min-parents=1', '--max-parents=1', count, 'HEAD']))
      .split('\n')
      .filter(Boolean)
  } catch (cause) {
    throw new CommitsError({
      code: 'environment/no-history',
      message: `The history of the folder ${JSON.stringify(folder)} cannot be read.`,
      hint: 'Install git, and give a folder of a repository with commits that your user owns.',
      cause,
    })
  }
}

/**
 * What the author of a commit says, and the regular JavaScript files that it changed, without those that it added, removed or
 * renamed; `null` for what is too large or not there.
 */
export async function changeOf(folder: string, commit: string) {
  const options = ['-r', '-z', '--no-commit-id', '--no-renames', '--diff-filter=M', '--no-ext-diff', '--no-textconv']
  try {
    const message = (await git(folder, ['cat-file', 'commit', commit])).replace(/^[^]*?\n\n/, '').trim()
    const listed = await git(folder, ['diff-tree', ...options, commit])
    const files: ChangedFile[] = []
    for (const [, old = '', now = '', path = ''] of listed.matchAll(
      /:100\d+ 100\d+ (\w+) (\w+) M\0([^\0]+\.[cm]?js)\0/g,
    )) {
      const [before, after] = [
        await git(folder, ['cat-file', 'blob', old]),
        await git(folder, ['cat-file', 'blob', now]),
      ]
      files.push({ path, before, after })
    }
    return { message, files }
  } catch {
    return null
  }
}
