#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError } from 'commander'
import { learnCommand } from './commands/learn.ts'
import { releasesCommand, rollbackCommand, runsCommand } from './commands/releases.ts'
import { reportCommand } from './commands/report.ts'
import { explainFailure } from './fail.ts'

const integer = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('It must be a whole number from 0.')
  return value
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

const program = new Command('ratchet')
  .version(version)
  .description('LLM agents that learn from experience and never slip back')
  .showHelpAfterError('(ratchet --help lists the commands)')

const command = (name: string, description: string) =>
  program
    .command(name)
    .description(description)
    .option('--store <folder>', 'where runs, versions and releases are kept', '.ratchet')
    .option('--json', 'one JSON object a line')

command('learn', 'prime, improve by policy gradient, judge on held-out tasks, release what is better')
  .option('--config <file>', 'JSON configuration; without it, the main job')
  .option('--seed <n>', 'everything random follows from it', integer)
  .option('--control', 'also spend the same time on supervised learning alone')
  .option('--deterministic', 'one thread, fixed schedule: the run repeats bit for bit')
  .option('--resume [run]', 'go on with a run that did not complete; the latest, without an id')
  .option('--new-store', 'start in an empty store; an earlier one is moved aside')
  .action(learnCommand)
command('runs', 'list the learning runs').option('--agent <name>', 'of one agent').action(runsCommand)
command('report', 'write the report of a run as one HTML file')
  .argument('[run]', 'the run, finished or not; by default, the latest')
  .option('--out <file>', 'the file; by default, beside the store')
  .action(reportCommand)
command('releases', 'list the releases').option('--agent <name>', 'of one agent').action(releasesCommand)
command('rollback', 'let what served before serve again')
  .argument('[release]', 'the release to go back to; by default, the one before')
  .option('--agent <name>', 'of one agent')
  .action(rollbackCommand)

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(explainFailure(error))
  process.exitCode = 1
}
