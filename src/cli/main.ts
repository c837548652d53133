#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { explainFailure, unwritableOutput } from './fail.ts'
import type { PrecisionChoice } from '../core/index.ts'
import type { Device } from '../model/index.ts'
import type { ServerKind } from '../model/tinker/index.ts'
import { exportFormats, importFormats } from './transfer/formats.ts'

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

const minutes = (text: string): number => {
  const value = number(text)
  if (value <= 0) throw new InvalidArgumentError('It must be more than 0.')
  return value
}

/** A command whose code is loaded when it is called, by the name that its file gives it: most calls need little of the code. */
const loaded =
  <Name extends string, Given extends readonly unknown[]>(
    load: () => Promise<Readonly<Record<NoInfer<Name>, (...given: Given) => unknown>>>,
    name: Name,
  ) =>
  async (...given: Given): Promise<void> => {
    const commands = await load()
    await commands[name](...given)
  }

/** The names of {@link Device}, without loading the engine. */
const devices = { cpu: true, cuda: true, webgpu: true } satisfies Record<Device, true>
const device = new Option('--device <name>', 'what multiplies matrices (default: cpu), see docs/devices.md').choices(
  Object.keys(devices),
)
/** The names of {@link PrecisionChoice}, without loading zod. */
const precisions = { auto: true, float32: true, int8: true } satisfies Record<PrecisionChoice, true>
const precision = (otherwise: string) =>
  new Option(
    '--precision <name>',
    `what the model's projections are multiplied in (default: ${otherwise}), see docs/models.md`,
  ).choices(Object.keys(precisions))

/** The names of {@link ServerKind}, without loading zod. */
const serverKinds = { tinker: true, 'skyrl-jax': true } satisfies Record<ServerKind, true>
const serverKind = new Option('--server-kind <name>', 'with --server: what it is (default: tinker)').choices(
  Object.keys(serverKinds),
)
const serverFolder = new Option(
  '--server-folder <path>',
  "with --server: folder here with the model's config.json, tokenizer.json and chat template, or its GGUF file (default: what --model names)",
)

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
    .option('--store <where>', 'store folder, or postgres://… (default: RATCHET_DATABASE_URL, else .ratchet)')
    .option('--json', 'one JSON object a line')
const command = (name: string, description: string) => withStoreOptions(program.command(name), description)
const filtered = (made: Command) =>
  made
    .option('--session <name>', 'only this session')
    .option('--agent <name>', 'only this agent')
    .option('--subject <name>', 'only this person')
    .option('--tenant <name>', 'only this tenant')
    .option('--run <id>', 'only this learning run')
    .option('--since <when>', 'only changed since: 2h, 7d, 2026-11-20')
    .option('--before <when>', 'only last changed before')

program.commandsGroup('Start:')
command('serve', 'run the gateway: record an agent through an OpenAI-compatible API')
  .option(
    '--upstream <url>',
    'base URL of an OpenAI-compatible API, with /v1; repeat for fallbacks, tried in order',
    list,
  )
  .option('--upstream-key <variable>', "environment variable that holds its key (default: forward the client's key)")
  .option(
    '--model <name>',
    'without --upstream: model of the embedded engine: a known or pulled name, a Hugging Face folder or a GGUF file',
  )
  .option('--server <url>', 'a Tinker server that has the model, by its name there, see docs/trainers.md')
  .addOption(serverKind)
  .addOption(serverFolder)
  .option('--agent <name>', 'serve what `ratchet learn` released for this agent, with the model that it learned on')
  .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
  .option('--port <n>', 'port to listen on; 0 picks a free one (default: 8787)', integer)
  .addOption(
    new Option('--record <mode>', 'whether answers wait for their record').choices(['required', 'best-effort']),
  )
  .option('--config <file>', 'JSON configuration, see docs/gateway.md (default: ratchet.json, if present)')
  .option('--no-learn', 'do not learn here; another process does (`ratchet learn --agent`)')
  .addHelpText(
    'after',
    examples(
      'serve --upstream https://api.openai.com/v1',
      'serve --upstream http://127.0.0.1:8000/v1 --port 9000   # vLLM, Ollama …',
      'serve --agent librarian                                 # what `ratchet learn` released',
      'serve --config serve.json --store /var/lib/ratchet',
    ),
  )
  .action(loaded(() => import('./commands/serve.ts'), 'serveCommand'))
command('trainer', 'serve the embedded engine to the Tinker Python SDK: training and sampling')
  .option('--model <name>', 'a known or pulled name, a Hugging Face folder or a GGUF file (default: minimind2-small)')
  .addOption(precision('float32'))
  .addOption(device)
  .option('--folder <path>', 'folder for models, checkpoints and requests (default: .ratchet/trainer)')
  .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
  .option('--port <n>', 'port to listen on; 0 picks a free one (default: 8000)', integer)
  .option('--alpha <n>', 'LoRA pairs are scaled by alpha / rank (default: 32)', number)
  .addHelpText('after', examples('trainer --model minimind2-small', 'trainer --model models/SmolLM2-135M --port 9000'))
  .action(loaded(() => import('./commands/trainer.ts'), 'trainerCommand'))
program
  .command('init')
  .description('write ratchet.json, the configuration of `serve`')
  .option('--upstream <url>', 'base URL of your OpenAI-compatible API, with /v1; skips the questions')
  .option('--upstream-key <variable>', "environment variable that holds its key (default: forward the client's key)")
  .option('--agent <name>', 'name of an agent that gets releases')
  .option('--model <name>', 'with --agent: the model that its requests name')
  .option('--yes', 'skip the questions and use the bundled model')
  .action(loaded(() => import('./commands/init.ts'), 'initCommand'))
program
  .command('pull')
  .description('fetch a model by its name; without a name, list what there is')
  .argument(
    '[name]',
    'a language model: smollm2-135m, gemma3-270m, tinyllama-1.1b, or owner/name[@revision] of a Hugging Face hub; a sentence model: minilm',
  )
  .option('--file <path>', 'one GGUF file of the repository (default: its safetensors)')
  .option('--to <folder>', 'folder of models (default: RATCHET_MODELS, else ~/.cache/ratchet/models)')
  .option('--json', 'one JSON object')
  .addHelpText(
    'after',
    examples(
      'pull smollm2-135m',
      'pull minilm',
      'pull HuggingFaceTB/SmolLM2-135M-Instruct',
      'pull Qwen/Qwen3-0.6B-GGUF --file Qwen3-0.6B-Q8_0.gguf',
    ),
  )
  .action(loaded(() => import('./commands/pull.ts'), 'pullCommand'))
command('doctor', 'check that `serve` can run: Node, store, configuration, upstreams, port')
  .option('--config <file>', 'JSON configuration (default: ratchet.json, if present)')
  .action(loaded(() => import('./commands/doctor.ts'), 'doctorCommand'))

program.commandsGroup('Look:')
filtered(command('trajectories', 'list recorded episodes, newest first'))
  .option('--limit <n>', 'maximum number of rows', integer, 50)
  .option('--config <file>', "the gateway's configuration, for rewards (default: ratchet.json)")
  .action(loaded(() => import('./commands/trajectories.ts'), 'trajectoriesCommand'))
command('show', 'print one episode as a tree, with its signals and reward')
  .argument('[id]', 'trajectory id or its beginning, session, or answer id (default: the latest)')
  .option('--tokens', 'print every token with its log-probability')
  .option('--full', 'do not shorten messages')
  .option('--verbose', 'print the version and probability of each decision')
  .option('--graph', 'print what the outcome and each decision were built from')
  .option('--svg <file>', 'draw that graph into this file')
  .option('--read <call>', 'print what the model read in this call, counted from 1, one message a line', integer)
  .option('--config <file>', "the gateway's configuration, for the reward (default: ratchet.json)")
  .option('--tenant <name>', 'whose it is (default: anybody)')
  .addHelpText('after', examples('show', 'show order-42', 'show t_3d5c --tokens'))
  .action(loaded(() => import('./commands/show.ts'), 'showCommand'))
command('runs', 'list learning runs')
  .option('--agent <name>', 'only this agent')
  .action(loaded(() => import('./commands/releases.ts'), 'runsCommand'))
command('report', 'write the report of a learning run as one HTML file')
  .argument('[run]', 'run id, finished or not (default: the latest)')
  .option('--out <file>', 'file to write (default: in the store)')
  .action(loaded(() => import('./commands/report.ts'), 'reportCommand'))
command('releases', 'list releases, the current pin and canary')
  .option('--agent <name>', 'only this agent')
  .action(loaded(() => import('./commands/releases.ts'), 'releasesCommand'))
command('canaries', 'list canaries with their history, newest first')
  .option('--agent <name>', 'only this agent')
  .option('--limit <n>', 'maximum number of rows', integer, 20)
  .action(loaded(() => import('./commands/release/canaries.ts'), 'canariesCommand'))
command('alerts', 'list drift, floods and rollbacks, newest first')
  .option('--agent <name>', 'only this agent')
  .option('--limit <n>', 'maximum number of rows', integer, 20)
  .action(loaded(() => import('./commands/alerts.ts'), 'alertsCommand'))

program.commandsGroup('Rate and learn:')
program
  .command('signal')
  .description('send feedback about an episode to the running gateway')
  .argument('<name>', 'what was measured, such as thumbs')
  .argument('<value>', 'number, true, false, or words')
  .option('--session <name>', 'session of the episode')
  .option('--trajectory <id>', 'trajectory id')
  .option('--node <id>', 'one message of the trajectory')
  .option('--response <id>', 'answer id')
  .option('--source <kind>', 'user, outcome, judge or verifier (default: user)')
  .option('--by <name>', 'end user who reports it')
  .option('--at <when>', 'when it happened: 1h (an hour ago) or a date (default: now)')
  .option('--store <where>', 'store of the gateway, to find it (default: RATCHET_DATABASE_URL, else .ratchet)')
  .option('--url <url>', 'URL of the gateway (default: the one that has the store open)')
  .option('--key <key>', 'API key (default: RATCHET_API_KEY)')
  .option('--json', 'one JSON object')
  .addHelpText(
    'after',
    examples(
      'signal thumbs false --session order-42',
      'signal resolved 0.5 --session order-42 --source outcome --at 2h',
    ),
  )
  .action(loaded(() => import('./commands/signal.ts'), 'signalCommand'))
program
  .command('signals')
  .description('import what became of episodes')
  .command('import')
  .description('import reviews of pull requests, one JSON object a line')
  .argument('<file>', 'file to read')
  .option('--name <name>', 'name of the signals', 'merged')
  .option('--tenant <name>', 'tenant that owns them')
  .option('--store <where>', 'store (default: RATCHET_DATABASE_URL, else .ratchet)')
  .option('--json', 'one JSON object')
  .action(loaded(() => import('./commands/signals-import.ts'), 'signalsImportCommand'))
command('learn', 'train on tasks, test on held-out ones, release if better')
  .option('--config <file>', 'JSON configuration (default: the main job)')
  .option(
    '--model <name>',
    "a known or pulled name, a Hugging Face folder or a GGUF file (default: the configuration's, else minimind2-small)",
  )
  .option('--server <url>', 'a Tinker server that has the model (default: the embedded engine), see docs/trainers.md')
  .addOption(serverKind)
  .addOption(serverFolder)
  .addOption(precision("the configuration's, else auto"))
  .option(
    '--minutes <n>',
    'end learning after so long, once 85 % of validation succeeds (default: when it rises no more)',
    minutes,
  )
  .option('--seed <n>', 'random seed', integer)
  .option('--control', 'also spend the same time on supervised learning alone')
  .addOption(device)
  .option('--deterministic', 'one thread, fixed schedule: the run repeats bit for bit')
  .option('--resume [run]', 'continue an incomplete run (default: the latest)')
  .option('--new-store', 'start in an empty store; move an earlier one aside')
  .option('--agent <name>', "learn from this agent's traffic, continuously; --config is the gateway's")
  .option('--every <time>', 'with --agent: least time between two runs, such as 30m')
  .option('--min-episodes <n>', 'with --agent: fresh episodes that a run needs', integer)
  .action(loaded(() => import('./commands/learn.ts'), 'learnCommand'))

const audit = program.command('audit').description('judge by truth what was drawn of a canary')
const auditing = (name: string, description: string) =>
  withStoreOptions(audit.command(name), description)
    .option('--url <url>', 'where the gateway is (default: where the one answers that writes the store)')
    .option('--key <key>', 'its API key, with the scope audit (default: RATCHET_API_KEY)')
const auditingAgent = (name: string, description: string) =>
  auditing(name, description).option('--agent <name>', 'of one agent')
auditingAgent('next', 'show the next session that is to be judged, and ask how it went; its arm is not told')
  .option('--by <name>', 'who judges, where several people share a key')
  .action(loaded(() => import('./commands/audit/next.ts'), 'auditNextCommand'))
auditingAgent('label', 'say how a session that was drawn went')
  .argument('<draw>', 'its id, as `audit next` shows it')
  .argument('<truth>', 'right, wrong, a number from 0 to 1, or unknown')
  .option('--note <words>', 'why')
  .option('--by <name>', 'who judges, where several people share a key')
  .action(loaded(() => import('./commands/audit/label.ts'), 'auditLabelCommand'))
auditingAgent('list', 'show where the audit stands, and what you said in it').action(
  loaded(() => import('./commands/audit/standing.ts'), 'auditListCommand'),
)
auditingAgent('agreement', 'show how reviewers agree, and who says the same of everything').action(
  loaded(() => import('./commands/audit/standing.ts'), 'auditAgreementCommand'),
)
auditingAgent('signals', 'show how well each signal predicts the truth, and what learning makes of it').action(
  loaded(() => import('./commands/audit/signals.ts'), 'auditSignalsCommand'),
)
auditing('withdraw', 'take back all labels of a key, as one that was stolen')
  .argument('<key>', 'its id')
  .action(loaded(() => import('./commands/audit/standing.ts'), 'auditWithdrawCommand'))
audit
  .command('plan')
  .description('say how many labels a decision needs')
  .requiredOption('--effect <share>', 'how much more often the candidate is right, as in 0.05', number)
  .option('--base <share>', 'how often what serves is right (default: 0.5)', number)
  .option('--share <share>', 'of the sessions that is drawn (default: 0.25)', number)
  .option('--correlation <r>', 'of behaviour with the truth; 0: it tells nothing (default: 0)', number)
  .option('--judge <r>', 'correlation of a judge with the truth (default: there is no judge)', number)
  .option('--judged <share>', 'of the sessions that the judge is asked about (default: 1)', number)
  .option('--candidate <share>', 'of the sessions that gets the candidate (default: 0.5)', number)
  .option('--alpha <level>', 'at which it is to be shown (default: 0.05)', number)
  .option('--power <share>', 'how often it is to be shown (default: 0.8)', number)
  .option('--json', 'one JSON object')
  .addHelpText(
    'after',
    examples(
      'audit plan --effect 0.1',
      'audit plan --effect 0.1 --share 0.05 --correlation 0.7',
      'audit plan --effect 0.1 --share 0.05 --judge 0.6',
    ),
  )
  .action(loaded(() => import('./commands/audit/plan.ts'), 'auditPlanCommand'))

program.commandsGroup('Change what serves:')
const changing = (made: Command) =>
  made
    .option('--agent <name>', 'only this agent')
    .option('--url <url>', 'URL of the gateway (default: the one on this machine that has the store open)')
    .option('--key <key>', 'API key with the scope admin (default: RATCHET_API_KEY)')
changing(command('try', 'start a canary of your own prompt, tool description or version'))
  .argument('[id]', 'release, canary or run to start from (default: what serves)')
  .option('--system <file>', 'file with a system prompt')
  .option('--tool <name=file>', 'file with the description of a tool; repeat for more', list)
  .option('--config <file>', "the gateway's configuration, if no gateway has the store open")
  .addHelpText('after', examples('try --system prompt.txt --agent support', 'try --tool find_order=find-order.txt'))
  .action(loaded(() => import('./commands/release/try.ts'), 'tryCommand'))
changing(command('promote', 'promote the canary, if the gate agrees'))
  .argument('[canary]', 'canary id (default: the running one)')
  .action(loaded(() => import('./commands/release/promote.ts'), 'promoteCommand'))
changing(command('rollback', 'end the running canary, or restore the previous release'))
  .argument('[release]', 'release to restore (default: one step back)')
  .action(loaded(() => import('./commands/release/rollback.ts'), 'rollbackCommand'))
changing(command('pin', 'freeze the current release; you can still roll back'))
  .argument('[release]', 'release that must be serving (default: any)')
  .option('--reason <words>', 'why', '')
  .action(loaded(() => import('./commands/release/pin.ts'), 'pinCommand'))
changing(command('unpin', 'end the pin')).action(loaded(() => import('./commands/release/pin.ts'), 'unpinCommand'))

program.commandsGroup('Data and keys:')
const keys = program.command('keys').description('manage API keys of the gateway')
withStoreOptions(keys.command('create'), 'create a key and show its secret once')
  .argument('<name>', 'name of the key, for people')
  .option('--scopes <list>', 'from infer, signal, read, audit, admin', 'infer,signal')
  .option('--tenant <name>', 'tenant whose data it reaches')
  .option('--agent <name>', 'agent that calls with it')
  .option('--no-train', 'forbid learning from its calls')
  .option('--days <n>', 'days until it expires', number)
  .action(loaded(() => import('./commands/keys.ts'), 'createKeyCommand'))
withStoreOptions(keys.command('list'), 'list keys, without their secrets')
  .option('--tenant <name>', 'only this tenant')
  .option('--sessions', 'include session keys (there may be very many)')
  .action(loaded(() => import('./commands/keys.ts'), 'listKeysCommand'))
withStoreOptions(keys.command('revoke'), 'revoke a key')
  .argument('<id>', 'key id')
  .action(loaded(() => import('./commands/keys.ts'), 'revokeKeyCommand'))
filtered(command('export', 'export trajectories to other formats, one JSON object a line'))
  .addOption(new Option('--format <name>', 'format to write').choices(exportFormats).makeOptionMandatory())
  .option('--out <file>', 'new file to write (default: standard output)')
  .option('--reward <signal>', 'use the mean of these signals as the reward')
  .option('--least <reward>', 'sft: least reward of a trajectory', number, 1)
  .option('--margin <reward>', 'dpo: least difference between two attempts', number, 0.1)
  .action(loaded(() => import('./commands/transfer.ts'), 'exportCommand'))
command('import', 'import trajectories from other formats, one JSON object a line')
  .argument('<file>', 'file to read')
  .addOption(new Option('--format <name>', 'format of the file').choices(importFormats).makeOptionMandatory())
  .addOption(
    new Option('--split <split>', 'split to import into')
      .choices(['train', 'validation', 'holdout'])
      .default('holdout'),
  )
  .option('--tenant <name>', 'tenant that owns them')
  .action(loaded(() => import('./commands/transfer.ts'), 'importCommand'))
const adapter = program.command('adapter').description('take learned adapters to other engines')
withStoreOptions(adapter.command('export'), 'write the adapter of a release for peft and vLLM, and verify it')
  .argument('<folder>', 'new folder')
  .option('--agent <name>', 'agent that has it (default: the only one)')
  .option('--release <id>', 'release that has it (default: what serves)')
  .option('--parameter <name>', 'which weights, if the release has several')
  .option('--model <name>', 'where the base model is (default: where it was learned)')
  .option('--base-name <name>', 'what adapter_config.json calls the base model (default: as the agent does)')
  .addHelpText(
    'after',
    examples('adapter export librarian-adapter', 'adapter export out --agent support --base-name Qwen/Qwen3-0.6B'),
  )
  .action(loaded(() => import('./commands/adapter.ts'), 'adapterExportCommand'))
command('backup', 'copy the store while it is in use')
  .argument('<folder>', 'new folder')
  .action(loaded(() => import('./commands/upkeep.ts'), 'backupCommand'))
filtered(command('prune', 'remove old traffic, after showing the counts'))
  .option('--yes', 'skip the confirmation')
  .action(loaded(() => import('./commands/upkeep.ts'), 'pruneCommand'))
command('erase', "remove a person's data, and list what remains")
  .option('--subject <name>', 'the person, as the client named them')
  .option('--key <id>', "instead: everything of this key in the trainer's folder")
  .option('--folder <folder>', "the trainer's folder")
  .option('--tenant <name>', 'only this tenant')
  .option('--yes', 'skip the confirmation')
  .action(loaded(() => import('./commands/upkeep.ts'), 'eraseCommand'))

program.commandsGroup('Help:').addHelpText(
  'after',
  `
Examples:
  npx ratchet serve --upstream https://api.openai.com/v1   start the gateway; set your agent's OPENAI_BASE_URL to its address
  npx ratchet show                                         print the latest episode
  npx ratchet signal thumbs false --session order-42       rate one
  npx ratchet learn                                        watch a small model learn, in some minutes`,
)

/** What goes on beside its output, and does not need a reader. */
const needsNoReader = new Set(['learn', 'serve', 'trainer'])
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
