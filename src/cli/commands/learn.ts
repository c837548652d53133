import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pc from 'picocolors'
import type { Json, ModelService, Store } from '../../core/index.ts'
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
import { moveStoreAside } from '../new-store.ts'
import { type LearnFlags, type Plan, planOf } from '../plan.ts'
import { jsonProgress, type Progress, terminalProgress } from '../progress.ts'
import { renderReport, reportOf } from '../report/index.ts'
import { type Baseline, openSearchJob, type SearchJob } from '../search-job.ts'
import { showFreshQuestions } from '../show-fresh-questions.ts'

/**
 * `ratchet learn`: the main job, or the job of a configuration file, from priming to release. Everything that can be
 * wrong with the input is found before the store is touched.
 */
export async function learnCommand(flags: LearnFlags): Promise<void> {
  const progress = flags.json ? jsonProgress((text) => process.stdout.write(text)) : terminalProgress(process.stdout)
  const plan = await planOf(flags)
  const began = Date.now()
  const opened = await openEmbeddedModel({
    reference: plan.config.model,
    renderer: plan.config.renderer,
    deterministic: plan.deterministic,
  })
  const model = opened.service
  try {
    const job = await openSearchJob(plan.config, plan.seed, model.renderer, (text) => opened.countTokens(text))
    const aside = flags.newStore ? await moveStoreAside(flags.store) : null
    if (aside) progress.say(pc.dim(`An earlier store was moved to ${aside}.`))
    const store = await openStore({ path: join(flags.store, 'ratchet.db') })
    try {
      introduce(progress, plan, job)
      const summary = await learnJob({ plan, job, model, store, progress, folder: flags.store })
      const baselines = await job.baselines(plan.config.schedule.holdoutTasks)
      const report = await writeReport(store, flags.store, summary, baselines)
      if (flags.json) {
        process.stdout.write(`${JSON.stringify(summaryLine(summary, (Date.now() - began) / 1000))}\n`)
      } else {
        await showFreshQuestions({ store, model, job, config: plan.config, progress })
        for (const line of closingLines(summary, baselines, { report, store: flags.store })) progress.say(line)
      }
    } finally {
      await store.close()
    }
  } finally {
    await model.close()
  }
}

interface Work {
  readonly plan: Plan
  readonly job: SearchJob
  readonly model: ModelService
  readonly store: Store
  readonly progress: Progress
  /** The store's folder, for what a person is told. */
  readonly folder: string
}

/** Puts the pieces that the configuration names into the loop. */
async function learnJob({ plan, job, model, store, progress, folder }: Work): Promise<LearnSummary> {
  const { config, seed, control, deterministic, resume } = plan
  const interrupt = new AbortController()
  const onSignal = () => interrupt.abort(new InputError(interrupted(folder)))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onSignal)
  return learn(job.agent, {
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
