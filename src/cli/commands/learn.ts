import pc from 'picocolors'
import type { Agent } from '../../agent/index.ts'
import type { Precision } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { learn, type LearnEvent, type RolloutOptions, type RolloutSummary } from '../../learn/index.ts'
import { openStore } from '../../store/index.ts'
import { closingLines } from '../closing-lines.ts'
import { learnOptions, openSearchJob, type Plan, type SearchJob } from '../../recipe/index.ts'
import { learnerCommand } from '../learning/learner-command.ts'
import type { LearnerFlags } from '../learning/learner-plan.ts'
import { moveStoreAside } from '../new-store.ts'
import { openModel } from '../open-model.ts'
import { type LearnFlags, planOf } from '../plan.ts'
import { jsonProgress, type Progress, terminalProgress } from '../../report/index.ts'
import { showFreshQuestions } from '../show-fresh-questions.ts'
import { folderOf, locationOf, storeArgument } from '../with-store.ts'
import { reportPath, writeReport } from '../write-report.ts'

/**
 * `ratchet learn`: the main job, or the job of a configuration file, from priming to release. Everything that can be
 * wrong with the input is found before the store is touched. With `--every` or `--agent`, a learner of an agent's traffic.
 */
export async function learnCommand(flags: LearnFlags & LearnerFlags): Promise<void> {
  if (flags.every !== undefined || flags.agent !== undefined) {
    refuseFlagsOfOneRun(flags)
    return learnerCommand(flags)
  }
  const progress = flags.json ? jsonProgress((text) => process.stdout.write(text)) : terminalProgress(process.stdout)
  const asked = await planOf(flags)
  const began = Date.now()
  const { config, deterministic } = asked
  const options = { deterministic, ...(flags.device && { device: flags.device }) }
  const opened = await openModel(config, options, (line) => progress.say(pc.dim(line)))
  // A run keeps the precision that was chosen: it is resumed in that one, on whatever machine.
  const plan = { ...asked, config: { ...config, precision: opened.precision ?? config.precision } }
  const model = opened.service
  try {
    const job = await openSearchJob(plan.config, plan.seed, model.renderer, (text) => opened.countTokens(text))
    const options = await learnOptions(plan, job, model)
    const location = locationOf(flags)
    const aside = flags.newStore ? await moveStoreAside(location) : null
    if (aside) progress.say(pc.dim(`An earlier store was moved to ${aside}.`))
    const store = await openStore(location)
    try {
      introduce(progress, plan, job)
      const onEvent = (event: LearnEvent) => progress.event(event)
      const summary = await learnUntilStopped(job.agent, { ...options, store, onEvent }, storeArgument(flags))
      const report = await reportPath(folderOf(flags), summary.runId)
      const { tiers, gate } = await writeReport(store, summary.runId, report, storeArgument(flags))
      if (flags.json) {
        process.stdout.write(`${JSON.stringify(summaryLine(summary, opened.precision, (Date.now() - began) / 1000))}\n`)
      } else {
        await showFreshQuestions({ store, model, job, config: plan.config, progress })
        const where = { agent: plan.config.agent, report, store: storeArgument(flags) }
        for (const line of closingLines(summary, tiers[0]?.baselines ?? [], gate?.rivals ?? [], where))
          progress.say(line)
      }
    } finally {
      await store.close()
    }
  } finally {
    await model.close()
  }
}

/** A learner takes these from the agent's section in the configuration, or has no use for them. */
function refuseFlagsOfOneRun({ model, precision, minutes, seed, control, deterministic, ...flags }: LearnFlags): void {
  const { server, serverKind, serverFolder, device, resume, newStore } = flags
  const given = {
    model,
    server,
    'server-kind': serverKind,
    'server-folder': serverFolder,
    precision,
    minutes,
    seed,
    control,
    deterministic,
    device,
    resume,
    'new-store': newStore,
  }
  const [flag] = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (flag === undefined) return
  throw new InputError({
    code: 'input/flag-of-one-run',
    message: `--${flag} is for one run over tasks, and --agent and --every learn from an agent's traffic.`,
    hint: `Leave --${flag} out; what a learner trains and how is in the gateway's configuration (docs/online.md).`,
  })
}

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Learns until the end, or until the person or the system asks to stop; then it can be resumed. */
async function learnUntilStopped(agent: Agent, options: RolloutOptions, storeFlag: string): Promise<RolloutSummary> {
  const interrupt = new AbortController()
  const stop = () => interrupt.abort(new InputError(interrupted(storeFlag)))
  for (const signal of stopSignals) process.once(signal, stop)
  try {
    return await learn(agent, { ...options, signal: interrupt.signal })
  } finally {
    // What comes after ends at once when asked to, as any program does.
    for (const signal of stopSignals) process.off(signal, stop)
  }
}

function introduce(
  progress: Progress,
  { config, seed }: Plan,
  { source, demonstrations, warnings = [] }: SearchJob,
): void {
  progress.say(pc.bold(`Ratchet: ${config.agent} learns on ${config.model}`))
  progress.say(
    pc.dim(
      `${demonstrations.length} demonstrations and a reward · ${source.train.length} training tasks · judged on held-out tasks it has never seen · seed ${seed} · ${config.server?.url ?? config.precision}`,
    ),
  )
  for (const warning of warnings) progress.say(pc.yellow(warning))
  progress.say('')
}

/** The last line of `--json`. Success rates are on the test split. */
function summaryLine(
  { runId, base, primed, control, learned, decision, releaseId, tokensSampled, tokensTrained }: RolloutSummary,
  precision: Precision | null,
  seconds: number,
) {
  const rate = ({ success, n, ci }: RolloutSummary['base']) => ({ success, n, ci })
  return {
    type: 'summary',
    runId,
    precision,
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

const interrupted = (storeFlag: string) => ({
  code: 'learn/interrupted',
  message: 'The run was interrupted.',
  hint: `Continue from its last checkpoint with: npx ratchet learn --resume${storeFlag}`,
})
