import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pc from 'picocolors'
import { type Json, parseInput, type Run, RunId, type Store } from '../../core/index.ts'
import { verify } from '../../environment/search/index.ts'
import { InputError } from '../../errors/index.ts'
import { pairedGate } from '../../gate/index.ts'
import { learn, type LearnSummary } from '../../learn/index.ts'
import { openEmbeddedModel } from '../../model/index.ts'
import { policyGradient } from '../../optimize/weights/index.ts'
import { brokenCalls, noAnswer, repetition, rubric, verifier } from '../../reward/index.ts'
import { openStore } from '../../store/index.ts'
import { closingLines } from '../closing-lines.ts'
import { creditOf } from '../credit.ts'
import { LearnConfig } from '../learn-config.ts'
import { moveStoreAside } from '../new-store.ts'
import { jsonProgress, type Progress, terminalProgress } from '../progress.ts'
import { renderReport, reportOf } from '../report/index.ts'
import { type Baseline, openSearchJob, type SearchJob } from '../search-job.ts'
import { showFreshQuestions } from '../show-fresh-questions.ts'

export interface LearnFlags {
  /** Folder of the store. */
  readonly store: string
  readonly newStore?: boolean
  readonly config?: string
  readonly seed?: number
  readonly json?: boolean
  readonly control?: boolean
  readonly deterministic?: boolean
  /** A run's id; true for the latest that did not complete. */
  readonly resume?: string | true
}

/** What decides a run, kept with it so that `--resume` needs no other flag. */
interface Plan {
  readonly config: LearnConfig
  readonly seed: number
  readonly control: boolean
  readonly deterministic: boolean
  readonly resume: RunId | null
}

/** `ratchet learn`: the main job, or the job of a configuration file, from priming to release. */
export async function learnCommand(flags: LearnFlags): Promise<void> {
  const progress = flags.json ? jsonProgress((text) => process.stdout.write(text)) : terminalProgress(process.stdout)
  const given = flags.config === undefined ? {} : await readConfig(flags.config)
  const aside = flags.newStore && flags.resume === undefined ? moveStoreAside(flags.store) : null
  if (aside) progress.say(pc.dim(`An earlier store was moved to ${aside}.`))
  const store = await openStore({ path: join(flags.store, 'ratchet.db') })
  try {
    await learnIn(store, await planOf(flags, given, store), flags, progress)
  } finally {
    await store.close()
  }
}

async function learnIn(store: Store, plan: Plan, flags: LearnFlags, progress: Progress): Promise<void> {
  const { config, seed, control, deterministic, resume } = plan
  const began = Date.now()
  const { service: model, countTokens } = await openEmbeddedModel({
    reference: config.model,
    renderer: config.renderer,
    deterministic,
  })
  try {
    const job = await openSearchJob(config, seed, model.renderer, countTokens)
    introduce(progress, plan, job)
    const interrupt = new AbortController()
    const onSignal = () => interrupt.abort(new InputError(interrupted(flags.store)))
    process.once('SIGINT', onSignal)
    const summary = await learn(job.agent, {
      model,
      store,
      source: job.source,
      ...(job.demonstrations.length > 0
        ? { prime: { demonstrations: job.demonstrations, supervised: config.prime } }
        : {}),
      reward: rubric(
        { solved: verifier(verify, 'search-answer') },
        { guards: [brokenCalls(), noAnswer({ tool: 'answer' }), repetition()] },
      ),
      credit: creditOf(config),
      optimize: { model: policyGradient(config.policy) },
      gate: pairedGate({
        ...config.gate,
        guards: {
          brokenCalls: { allowed: 0.02, range: [0, 1] },
          unfinished: { allowed: 0.02, range: [0, 1] },
        },
      }),
      method: { kind: 'lora', ...config.adapter },
      budget: { ...config.episode, tokens: config.episode.turns * config.episode.tokensPerTurn },
      schedule: config.schedule,
      control,
      seed,
      deterministic,
      ...(resume === null ? {} : { resume }),
      onEvent: (event) => progress.event(event),
      signal: interrupt.signal,
      config: { learn: config as unknown as Json, control },
    })
    process.off('SIGINT', onSignal)
    const baselines = await job.baselines(config.schedule.holdoutTasks)
    const report = await writeReport(store, flags.store, summary, baselines)
    if (!flags.json) {
      await showFreshQuestions({ store, model, job, config, progress })
      for (const line of closingLines(summary, baselines, { report, store: flags.store })) progress.say(line)
    }
    if (flags.json) process.stdout.write(`${JSON.stringify(summaryLine(summary, (Date.now() - began) / 1000))}\n`)
  } finally {
    await model.close()
  }
}

function introduce(progress: Progress, { config, seed }: Plan, { source, demonstrations }: SearchJob): void {
  progress.say(pc.bold(`Ratchet: ${config.agent} learns on ${config.model}`))
  progress.say(
    pc.dim(
      `${demonstrations.length} demonstrations and a reward · ${source.train.length} training tasks · judged on held-out tasks it has never seen · seed ${seed}`,
    ),
  )
  progress.say('')
}

/** The last line of `--json`. Success rates are on the test split. */
function summaryLine(
  { runId, base, primed, control, learned, decision, releaseId, tokensSampled, tokensTrained }: LearnSummary,
  seconds: number,
) {
  const rate = ({ success, n, ci }: LearnSummary['base']) => ({ success, n, ci })
  return {
    type: 'summary',
    runId,
    base: rate(base),
    primed: rate(primed),
    control: control && rate(control),
    learned: rate(learned),
    decision,
    releaseId,
    seconds,
    tokensSampled,
    tokensTrained,
  }
}

async function writeReport(
  store: Store,
  folder: string,
  summary: LearnSummary,
  baselines: readonly Baseline[],
): Promise<string> {
  const path = join(folder, `report-${summary.runId}.html`)
  await writeFile(path, renderReport(await reportOf(store, summary.runId, baselines)))
  return path
}

const interrupted = (store: string) => ({
  code: 'learn/interrupted',
  message: 'The run was interrupted.',
  hint: `Go on from its last checkpoint with: ratchet learn --resume --store ${store}`,
})

async function readConfig(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new InputError({
      code: 'input/unreadable-config',
      message: `The configuration file ${path} ${cause instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}.`,
      hint: 'Give the path of a JSON file; docs/learn.md lists its keys.',
      cause,
    })
  }
}

async function planOf(flags: LearnFlags, given: unknown, store: Store): Promise<Plan> {
  if (flags.resume === undefined) {
    const config = parseInput(LearnConfig, given, flags.config === undefined ? 'the configuration' : flags.config)
    const { seed = 0, control = false, deterministic = false } = flags
    return { config, seed, control, deterministic, resume: null }
  }
  const run = await unfinishedRun(flags.resume, store)
  const kept = run.config as { readonly learn?: unknown; readonly control?: unknown; readonly deterministic?: unknown }
  return {
    config: parseInput(LearnConfig, kept.learn, `the configuration of ${run.id}`),
    seed: run.seed,
    control: kept.control === true,
    deterministic: kept.deterministic === true,
    resume: run.id,
  }
}

async function unfinishedRun(resume: string | true, store: Store): Promise<Run> {
  const run =
    resume === true
      ? (await store.runs.list({ limit: 100 })).find(({ status }) => status !== 'completed')
      : await store.runs.get(RunId.parse(resume))
  if (run) return run
  throw new InputError({
    code: 'input/no-run-to-resume',
    message: resume === true ? 'Every run in this store has completed.' : `There is no run "${resume}" in this store.`,
    hint: 'List the runs with `ratchet runs`, or start one with `ratchet learn`.',
  })
}
