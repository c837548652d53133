#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { alertsCommand } from './commands/alerts.ts'
import { auditLabelCommand } from './commands/audit/label.ts'
import { auditNextCommand } from './commands/audit/next.ts'
import { auditPlanCommand } from './commands/audit/plan.ts'
import { auditAgreementCommand, auditListCommand, auditWithdrawCommand } from './commands/audit/standing.ts'
import { doctorCommand } from './commands/doctor.ts'
import { initCommand } from './commands/init.ts'
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './commands/keys.ts'
import { learnCommand } from './commands/learn.ts'
import { canariesCommand } from './commands/release/canaries.ts'
import { pinCommand, unpinCommand } from './commands/release/pin.ts'
import { promoteCommand } from './commands/release/promote.ts'
import { rollbackCommand } from './commands/release/rollback.ts'
import { tryCommand } from './commands/release/try.ts'
import { releasesCommand, runsCommand } from './commands/releases.ts'
import { reportCommand } from './commands/report.ts'
import { serveCommand } from './commands/serve.ts'
import { signalCommand } from './commands/signal.ts'
import { showCommand, trajectoriesCommand } from './commands/trajectories.ts'
import { exportCommand, importCommand, importFormats } from './commands/transfer.ts'
import { backupCommand, eraseCommand, pruneCommand } from './commands/upkeep.ts'
import { explainFailure, unwritableOutput } from './fail.ts'
import { exportFormats } from './transfer/export-rows.ts'

const integer = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('It must be a whole number from 0.')
  return value
}

const number = (text: string): number => {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}

const list = (text: string, before: readonly string[] = []): readonly string[] => [...before, text]

/** Command lines for the end of a command's help. */
const examples = (...lines: readonly string[]): string =>
  ['', 'Examples:', ...lines.map((line) => `  npx ratchet ${line}`)].join('\n')

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

const program = new Command('ratchet')
  .version(version)
  .description('LLM agents that learn from experience and never slip back')
  .showHelpAfterError('(ratchet --help lists the commands)')

const withStoreOptions = (command: Command, description: string) =>
  command
    .description(description)
    .option('--store <where>', 'folder of the store, or postgres://… (default: RATCHET_DATABASE_URL, else .ratchet)')
    .option('--json', 'one JSON object a line')
const command = (name: string, description: string) => withStoreOptions(program.command(name), description)
const filtered = (made: Command) =>
  made
    .option('--session <name>', "of one session: the client's own name for an episode")
    .option('--agent <name>', 'of one agent')
    .option('--subject <name>', 'about one person')
    .option('--tenant <name>', 'of one tenant')
    .option('--run <id>', 'of one learning run')
    .option('--since <when>', 'that changed since: 2h, 7d, 2026-11-20')
    .option('--before <when>', 'that changed last before')

program.commandsGroup('Start:')
command('serve', 'record an agent: stand in front of its model and answer as the OpenAI API does')
  .option(
    '--upstream <url>',
    'OpenAI-compatible API to pass calls on to, /v1 included; several are tried in order',
    list,
  )
  .option('--upstream-key <variable>', "environment variable with its key; else the client's own key goes on to it")
  .option('--model <name>', 'model of the embedded engine, without --upstream: a known name, or a Hugging Face folder')
  .option('--host <address>', 'where to listen (default: 127.0.0.1)')
  .option('--port <n>', 'port; 0 for any free one (default: 8787)', integer)
  .addOption(
    new Option('--record <mode>', 'whether an answer waits for its record').choices(['required', 'best-effort']),
  )
  .option(
    '--config <file>',
    'JSON configuration (default: ratchet.json, if it is here); docs/gateway.md lists its keys',
  )
  .option('--no-learn', 'leave learning to another process (`ratchet learn --agent`)')
  .addHelpText(
    'after',
    examples(
      'serve --upstream https://api.openai.com/v1',
      'serve --upstream http://127.0.0.1:8000/v1 --port 9000   # vLLM, Ollama …',
      'serve --config serve.json --store /var/lib/ratchet',
    ),
  )
  .action(serveCommand)
program
  .command('init')
  .description('write ratchet.json, the configuration of `serve`, from a few answers')
  .option('--upstream <url>', "the OpenAI-compatible API that your agent's model is at, /v1 included; asks nothing")
  .option('--upstream-key <variable>', "environment variable with its key; else the client's own key goes on to it")
  .option('--agent <name>', 'the agent, where it is to have releases')
  .option('--model <name>', 'with --agent: the model that it asks for')
  .option('--yes', 'ask nothing: the small model of the package')
  .action(initCommand)
command('doctor', 'check whether `serve` would run here: Node, store, configuration, upstreams, port')
  .option('--config <file>', 'JSON configuration (default: ratchet.json, if it is here)')
  .action(doctorCommand)

program.commandsGroup('Look:')
filtered(command('trajectories', 'list what was recorded, the latest first'))
  .option('--limit <n>', 'at most so many', integer, 50)
  .option('--config <file>', "the gateway's configuration, by whose rules episodes are judged (default: ratchet.json)")
  .action(trajectoriesCommand)
command('show', 'show one trajectory as a tree, with its tokens, signals and reward')
  .argument('[id]', 'its id or the beginning of it, a session, or the id of an answer; by default, the latest')
  .option('--tokens', 'every token with its log-probability')
  .option('--full', 'messages in full')
  .option('--verbose', 'what decided, by its version, and with which probability')
  .option('--config <file>', "the gateway's configuration, by whose rules it is judged (default: ratchet.json)")
  .option('--tenant <name>', 'whose session it is, where a session is named')
  .addHelpText('after', examples('show', 'show order-42', 'show t_3d5c --tokens'))
  .action(showCommand)
command('runs', 'list the learning runs').option('--agent <name>', 'of one agent').action(runsCommand)
command('report', 'write the report of a run, over tasks or traffic, as one HTML file')
  .argument('[run]', 'the run, finished or not; by default, the latest')
  .option('--out <file>', 'the file; by default, beside the store')
  .action(reportCommand)
command('releases', 'list the releases, with the pin and the canary of the one that serves')
  .option('--agent <name>', 'of one agent')
  .action(releasesCommand)
command('canaries', 'list the canaries with their stories, newest first')
  .option('--agent <name>', 'of one agent')
  .option('--limit <n>', 'at most so many', integer, 20)
  .action(canariesCommand)
command('alerts', 'list what people should know (drift, floods, what went back), newest first')
  .option('--agent <name>', 'of one agent')
  .option('--limit <n>', 'at most so many', integer, 20)
  .action(alertsCommand)

program.commandsGroup('Say how it went, and learn:')
program
  .command('signal')
  .description('tell the running gateway how an episode went')
  .argument('<name>', 'what was measured, for example thumbs')
  .argument('<value>', 'a number, true or false, or words')
  .option('--session <name>', 'about the episode of a session')
  .option('--trajectory <id>', 'about a trajectory')
  .option('--node <id>', 'about one message of the trajectory')
  .option('--response <id>', 'about one answer, by its id')
  .option('--source <kind>', 'user, outcome, judge or verifier (default: user)')
  .option('--by <name>', 'the end user who says so')
  .option('--at <when>', 'when it happened: 1h for an hour ago, or a date (default: now)')
  .option(
    '--store <where>',
    'the store of the gateway, which is found by it (default: RATCHET_DATABASE_URL, else .ratchet)',
  )
  .option('--url <url>', 'where the gateway is (default: where the one answers that writes the store)')
  .option('--key <key>', 'its API key (default: RATCHET_API_KEY)')
  .option('--json', 'one JSON object')
  .addHelpText(
    'after',
    examples(
      'signal thumbs false --session order-42',
      'signal resolved 0.5 --session order-42 --source outcome --at 2h',
    ),
  )
  .action(signalCommand)
command('learn', 'learn from demonstrations and a reward, judge on held-out tasks, release what is better')
  .option('--config <file>', 'JSON configuration; without it, the main job')
  .option('--seed <n>', 'everything random follows from it', integer)
  .option('--control', 'also spend the same time on supervised learning alone')
  .option('--deterministic', 'one thread, fixed schedule: the run repeats bit for bit')
  .option('--resume [run]', 'go on with a run that did not complete; the latest, without an id')
  .option('--new-store', 'start in an empty store; an earlier one is moved aside')
  .option('--agent <name>', "learn from this agent's traffic, again and again; --config is the gateway's")
  .option('--every <time>', 'with --agent: from one run to the next, at least, as in 30m')
  .option('--min-episodes <n>', 'with --agent: fresh episodes that a run needs', integer)
  .action(learnCommand)

const audit = program.command('audit').description('judge by truth what was drawn of a canary')
const auditing = (name: string, description: string) =>
  withStoreOptions(audit.command(name), description)
    .option('--url <url>', 'where the gateway is (default: where the one answers that writes the store)')
    .option('--key <key>', 'its API key, with the scope audit (default: RATCHET_API_KEY)')
const auditingAgent = (name: string, description: string) =>
  auditing(name, description).option('--agent <name>', 'of one agent')
auditingAgent('next', 'show the next session that is to be judged, and ask how it went; its arm is not told')
  .option('--by <name>', 'who judges, where several people share a key')
  .action(auditNextCommand)
auditingAgent('label', 'say how a session that was drawn went')
  .argument('<draw>', 'its id, as `audit next` shows it')
  .argument('<truth>', 'right, wrong, a number from 0 to 1, or unknown')
  .option('--note <words>', 'why')
  .option('--by <name>', 'who judges, where several people share a key')
  .action(auditLabelCommand)
auditingAgent('list', 'show where the audit stands, and what you said in it').action(auditListCommand)
auditingAgent('agreement', 'show how reviewers agree, and who says the same of everything').action(
  auditAgreementCommand,
)
auditing('withdraw', 'take back all labels of a key, as one that was stolen')
  .argument('<key>', 'its id')
  .action(auditWithdrawCommand)
audit
  .command('plan')
  .description('say how many labels a decision needs')
  .requiredOption('--effect <share>', 'how much more often the candidate is right, as in 0.05', number)
  .option('--base <share>', 'how often what serves is right (default: 0.5)', number)
  .option('--share <share>', 'of the sessions that is drawn (default: 0.25)', number)
  .option('--correlation <r>', 'of behaviour with the truth; 0: it tells nothing (default: 0)', number)
  .option('--candidate <share>', 'of the sessions that gets the candidate (default: 0.5)', number)
  .option('--alpha <level>', 'at which it is to be shown (default: 0.05)', number)
  .option('--power <share>', 'how often it is to be shown (default: 0.8)', number)
  .option('--json', 'one JSON object')
  .addHelpText('after', examples('audit plan --effect 0.1', 'audit plan --effect 0.1 --share 0.05 --correlation 0.7'))
  .action(auditPlanCommand)

program.commandsGroup('Change what serves:')
const changing = (made: Command) =>
  made
    .option('--agent <name>', 'of one agent')
    .option('--url <url>', 'through the gateway there; by itself where a gateway on this machine has the store')
    .option('--key <key>', 'its API key, with the scope admin (default: RATCHET_API_KEY)')
changing(command('try', 'let a share of the sessions get a candidate of your own, as a canary'))
  .argument('[id]', 'an earlier release, a canary or a run, whose candidate is tried (again)')
  .option('--system <file>', 'a system prompt')
  .option('--tool <name=file>', "a tool's description; again for each tool", list)
  .option('--config <file>', "the gateway's configuration, whose rules hold: where no gateway has the store")
  .addHelpText('after', examples('try --system prompt.txt --agent support', 'try --tool find_order=find-order.txt'))
  .action(tryCommand)
changing(command('promote', 'ask the gate now whether the canary may serve everybody'))
  .argument('[canary]', 'the canary; by default, the one that runs')
  .action(promoteCommand)
changing(command('rollback', 'take back the canary that runs; else let what served before serve again'))
  .argument('[release]', 'the release that is to serve everybody; by default, one step back')
  .action(rollbackCommand)
changing(command('pin', 'hold what serves: no gate changes it, and you can still roll back'))
  .argument('[release]', 'what must be serving; by default, whatever serves')
  .option('--reason <words>', 'why', '')
  .action(pinCommand)
changing(command('unpin', 'let go of what serves')).action(unpinCommand)

program.commandsGroup('Data and keys:')
const keys = program.command('keys').description('API keys of the gateway')
withStoreOptions(keys.command('create'), 'make a key; its secret is shown once')
  .argument('<name>', 'for people')
  .option('--scopes <list>', 'of infer, signal, read, audit, admin', 'infer,signal')
  .option('--tenant <name>', 'whose data it reaches')
  .option('--agent <name>', 'the agent that calls with it')
  .option('--no-train', 'forbid learning from anything that it sends')
  .option('--days <n>', 'how long it is good for', number)
  .action(createKeyCommand)
withStoreOptions(keys.command('list'), 'list keys, without their secrets')
  .option('--tenant <name>', 'of one tenant')
  .option('--sessions', 'the keys of sessions too, of which there may be very many')
  .action(listKeysCommand)
withStoreOptions(keys.command('revoke'), 'make a key stop working').argument('<id>', 'its id').action(revokeKeyCommand)
filtered(command('export', 'write trajectories in a format of other systems, one JSON object a line'))
  .addOption(new Option('--format <name>', 'what to write').choices(exportFormats).makeOptionMandatory())
  .option('--out <file>', 'a new file; by default, standard output')
  .option('--reward <signal>', 'take the mean of the signals of this name as the reward')
  .option('--least <reward>', 'sft: what a trajectory must have earned', number, 1)
  .option('--margin <reward>', 'dpo: how far apart two attempts must be', number, 0.1)
  .action(exportCommand)
command('import', 'read trajectories of other systems, one JSON object a line')
  .argument('<file>', 'the file')
  .addOption(new Option('--format <name>', 'what it holds').choices(importFormats).makeOptionMandatory())
  .addOption(
    new Option('--split <split>', 'what they may serve').choices(['train', 'validation', 'holdout']).default('holdout'),
  )
  .option('--tenant <name>', 'whose they are')
  .action(importCommand)
command('backup', 'copy the store while it is in use').argument('<folder>', 'a new folder').action(backupCommand)
filtered(command('prune', 'remove old traffic; shows the counts first'))
  .option('--yes', 'do not ask')
  .action(pruneCommand)
command('erase', "remove a person's data, and tell what cannot be undone")
  .requiredOption('--subject <name>', 'the person, as the client named them')
  .option('--tenant <name>', 'of one tenant only')
  .option('--yes', 'do not ask')
  .action(eraseCommand)

program.commandsGroup('Help:').addHelpText(
  'after',
  `
Examples:
  npx ratchet serve --upstream https://api.openai.com/v1   record an agent: point its OPENAI_BASE_URL at the address shown
  npx ratchet show                                         read its latest episode
  npx ratchet signal thumbs false --session order-42       say how one went
  npx ratchet learn                                        see a small model learn from documents, in some minutes`,
)

/** What goes on beside its output, and does not need a reader. */
const needsNoReader = new Set(['learn', 'serve'])
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const gone = error.code === 'EPIPE'
  if (gone && needsNoReader.has(process.argv[2] ?? '')) return
  // A reader that has gone, as `| head` does, has all that it wanted.
  if (!gone) process.stderr.write(explainFailure(unwritableOutput(error)))
  process.exit(gone ? 0 : 1)
})

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(explainFailure(error))
  process.exitCode = 1
}
