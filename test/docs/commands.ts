import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './scratch.ts'

/** Commands that are too slow to run for each mention, and what runs them instead. */
const runElsewhere: readonly { readonly command: RegExp; readonly file: string; readonly proof: string }[] = [
  { command: /^npm ci$/, file: '.ci/run', proof: 'npm ci' },
  { command: /^npm test$/, file: '.ci/run', proof: 'npm test' },
  { command: /^npm run check$/, file: '.ci/run', proof: 'npm run check' },
  { command: /^npm run test:slow$/, file: '.ci/run', proof: 'npm run test:slow' },
  { command: /^npx ratchet pull \S+( --file \S+)?$/, file: 'test/cli-pull.test.ts', proof: "'pull'" },
  { command: /^npm start( --( --(control|json|seed \w+))+)?$/, file: 'test/main-job.test.ts', proof: "'start'" },
]

/** The commands of a `sh` block, one each: comments gone, continued lines joined, `&&` taken apart. */
export function commandsOf(block: string): readonly string[] {
  return block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split('&&'))
    .map((command) => command.trim())
    .filter((command) => command !== '')
}

/**
 * Whether another suite runs this command.
 * @throws Error when that suite does not run it after all.
 */
export function isRunElsewhere(command: string): boolean {
  const known = runElsewhere.find(({ command: pattern }) => pattern.test(command))
  if (!known) return false
  const path = join(repository, known.file)
  if (!existsSync(path) || !readFileSync(path, 'utf8').includes(known.proof))
    throw new Error(`${known.file} was to run "${command}", and does not mention ${known.proof}`)
  return true
}

/**
 * What a command that is not run names and is not there: a script of package.json, or a file of the repository.
 * For measurements that need peers or a quiet machine.
 */
export function missingParts(command: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const script = /^npm run (\S+)/.exec(command)?.[1]
  const files = command.split(/\s+/).filter((word) => /^[\w.-]+\/[\w./-]+\.(mjs|js|ts|py|sh)$/.test(word))
  return [
    ...(script !== undefined && scripts[script] === undefined ? [`npm run ${script}`] : []),
    ...files.filter((file) => !existsSync(join(repository, file))),
  ]
}
