import { isDeepStrictEqual } from 'node:util'
import { parseInput, type PrecisionChoice, type Run, RunId, type Store } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { fromTraffic, type Schedule } from '../learn/index.ts'
import type { Device } from '../model/index.ts'
import { openStore } from '../store/index.ts'
import { LearnConfig, type Plan } from '../recipe/index.ts'
import { keptConfig } from './kept-config.ts'
import { readConfig } from './read-config.ts'
import { type ServerFlags, serverOf } from './server-flags.ts'
import { locationOf, type StoreFlags } from './with-store.ts'

export interface LearnFlags extends StoreFlags, ServerFlags {
  readonly newStore?: boolean
  readonly config?: string
  /** The model and its precision, instead of the configuration's. */
  readonly model?: string
  readonly precision?: PrecisionChoice
  /** Once learning has taken so long, it ends as soon as {@link goodEnough} of validation succeeds. */
  readonly minutes?: number
  readonly seed?: number
  readonly control?: boolean
  readonly deterministic?: boolean
  readonly device?: Device
  /** A run's id; true for the latest that did not complete. */
  readonly resume?: string | true
}

/**
 * Reads from the flags, or from the run to resume, what is to be done. Writes nothing.
 * @throws InputError when the configuration is not valid, there is no run to resume, or it was begun otherwise.
 */
export async function planOf(flags: LearnFlags): Promise<Plan> {
  const config = await configOf(flags)
  if (flags.resume !== undefined) return resumedPlan(flags, flags.resume, config)
  const { seed = 0, control = false, deterministic = false } = flags
  return {
    config: config ?? parseInput(LearnConfig, {}, 'the configuration'),
    seed,
    control,
    deterministic,
    resume: null,
  }
}

/** What the file says, and over it the flags; `undefined` where nothing is said. */
async function configOf({
  config: file,
  model,
  precision,
  minutes,
  ...flags
}: LearnFlags): Promise<LearnConfig | undefined> {
  const read = file === undefined ? undefined : await readConfig(LearnConfig, file, 'docs/learn.md')
  const server = serverOf(flags)
  if ([model, server, precision, minutes].every((flag) => flag === undefined)) return read
  const over = {
    ...(model !== undefined && { model }),
    ...(server !== undefined && { server: { ...read?.server, ...server } }),
    ...(precision !== undefined && { precision }),
    ...(minutes !== undefined && { schedule: { ...read?.schedule, goodEnough: goodEnoughAfter(minutes) } }),
  }
  return parseInput(LearnConfig, { ...read, ...over }, 'The flags')
}

/** What of validation has to succeed before `--minutes` ends learning. */
const goodEnough = 0.85
/** What `--minutes` sets in a schedule. */
export const goodEnoughAfter = (minutes: number): Schedule['goodEnough'] => ({
  success: goodEnough,
  seconds: 60 * minutes,
})

async function resumedPlan(flags: LearnFlags, resume: string | true, config: LearnConfig | undefined): Promise<Plan> {
  const store = await openStore({ ...locationOf(flags), readonly: true })
  let run: Run
  try {
    run = await runToResume(resume, store)
  } finally {
    await store.close()
  }
  const kept = run.config as { readonly learn?: unknown; readonly control?: unknown; readonly deterministic?: unknown }
  const plan: Plan = {
    config: parseInput(LearnConfig, keptConfig(kept.learn), `the configuration of ${run.id}`),
    seed: run.seed,
    control: kept.control === true,
    deterministic: kept.deterministic === true,
    resume: run.id,
  }
  // What was chosen on the machine that the run began on is chosen again.
  const again = config?.precision === 'auto' ? { ...config, precision: plan.config.precision } : config
  const differs: Readonly<Record<string, boolean>> = {
    '--new-store': flags.newStore === true,
    '--model': flags.model !== undefined && flags.model !== plan.config.model,
    '--server': flags.server !== undefined && flags.server !== plan.config.server?.url,
    '--server-kind': flags.serverKind !== undefined && flags.serverKind !== plan.config.server?.kind,
    '--server-folder': flags.serverFolder !== undefined && flags.serverFolder !== plan.config.server?.folder,
    '--precision': ![undefined, 'auto', plan.config.precision].includes(flags.precision),
    '--minutes':
      flags.minutes !== undefined &&
      !isDeepStrictEqual(goodEnoughAfter(flags.minutes), plan.config.schedule.goodEnough),
    '--config': flags.config !== undefined && !isDeepStrictEqual(again, plan.config),
    '--seed': flags.seed !== undefined && flags.seed !== plan.seed,
    '--control': flags.control === true && !plan.control,
    '--deterministic': flags.deterministic === true && !plan.deterministic,
  }
  const [flag] = Object.entries(differs).flatMap(([name, does]) => (does ? [name] : []))
  if (flag === undefined) return plan
  throw new InputError({
    code: 'input/resume-differs',
    message: `Run ${run.id} did not begin with this ${flag}.`,
    hint: `Leave ${flag} out: a run resumes with everything that it began with.`,
  })
}

/** The run that is named, or the latest that did not complete; the latest of all, when all did. */
async function runToResume(resume: string | true, store: Store): Promise<Run> {
  const id = resume === true ? null : RunId.safeParse(resume)
  const named = id?.success ? await store.runs.get(id.data) : null
  const latest = resume === true ? await store.runs.list({ limit: 100 }) : []
  // Runs of a learner are gone on with by a learner.
  const rollouts = latest.filter((one) => !fromTraffic(one))
  const run = named ?? rollouts.find(({ status }) => status !== 'completed') ?? rollouts[0]
  if (run) return run
  throw new InputError({
    code: 'input/no-run-to-resume',
    message: resume === true ? 'There is no run in this store.' : `There is no run "${resume}" in this store.`,
    hint: 'List the runs with `ratchet runs`, or start one with `ratchet learn`.',
  })
}
