import type { Agent } from '../agent/index.ts'
import { parseInput, RunId } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { judge } from './judge.ts'
import { refuseUnknownOptions } from './known-options.ts'
import type { LearnOptions, RolloutOptions, TrafficOptions } from './options.ts'
import { release } from './release.ts'
import { beforeUpdates } from './run/before-updates.ts'
import type { Course, GoOn } from './run/course.ts'
import { fail } from './run/fail.ts'
import type { LearnRun } from './run/learn-run.ts'
import { openRollouts } from './source/rollouts/open.ts'
import { openTraffic } from './source/traffic/open.ts'
import { type LearnSummary, RolloutSummary, TrafficSummary } from './summary.ts'

/**
 * The loop, once around: learn from the source → judge the candidate → release it.
 *
 * - Over `rollouts` it imitates demonstrations, practises, and is judged on held-out tasks.
 * - Over `traffic` it gathers what people did and said, learns from it, and is judged on held-out tasks where there are some,
 *   and by a canary. What a trajectory teaches is learned by one run only: the run that gathered it keeps it beside its
 *   checkpoints, and later runs leave it out, except to rehearse.
 *
 * Every phase ends in a checkpoint, so that a run that was killed anywhere goes on with `resume`; one that has completed only
 * tells its summary again.
 * @throws LearnError for a configuration that cannot work; errors of the store and the model pass through.
 */
export async function learn(agent: Agent, options: RolloutOptions): Promise<RolloutSummary>
export async function learn(agent: Agent, options: TrafficOptions): Promise<TrafficSummary>
export async function learn(agent: Agent, options: LearnOptions): Promise<LearnSummary> {
  refuseUnknownOptions(options)
  const summary = await summaryOfCompleted(options)
  if (summary) return summary
  return overRollouts(options) ? follow(await openRollouts(agent, options)) : follow(await openTraffic(agent, options))
}

const phases = { learn: learnOn, judge, release }

/** The loop. */
async function follow<R extends LearnRun>(course: Course<R>): Promise<LearnSummary> {
  const { run } = course
  try {
    if (run.state.phase === 'learn') await beforeUpdates(run)
    for (;;) {
      run.pause()
      if (run.state.phase === 'done') return await finish(run)
      await phases[run.state.phase](course)
    }
  } catch (error) {
    await fail(run, error)
    throw error
  } finally {
    await run.close()
  }
}

/** Does a stage, and goes on to the next one unless it did so itself or ended the run. After the last there is a candidate. */
async function learnOn<R extends LearnRun>({ run, stages }: Course<R>): Promise<void> {
  const at = stages.findIndex(({ name }) => name === run.state.stage)
  const { name: next = null } = stages[at + 1] ?? {}
  let gone = false
  const goOn: GoOn = async (change, work) => {
    gone = true
    await run.enter(next === null ? 'judge' : 'learn', { ...change, stage: next }, work)
  }
  await present(stages[at], 'the stage that is next').learn(run, goOn)
  if (!gone && run.state.phase === 'learn') await goOn()
}

const overRollouts = (options: LearnOptions): options is RolloutOptions => options.source.kind === 'rollouts'

/** How the run to resume ended; `null` when it did not. */
async function summaryOfCompleted(options: LearnOptions): Promise<LearnSummary | null> {
  const { store, resume } = options
  const run = resume === undefined ? null : await store.runs.get(parseInput(RunId, resume, 'the run to resume'))
  if (run?.status !== 'completed') return null
  const finished = (await store.runs.events(run.id)).findLast(({ type }) => type === 'finished')
  const { summary } = present(finished, `the end of run ${run.id}`).data
  return overRollouts(options) ? RolloutSummary.parse(summary) : TrafficSummary.parse(summary)
}

async function finish(run: LearnRun): Promise<LearnSummary> {
  const summary = run.summary()
  run.emit({ type: 'finished', summary })
  const { receipt, release } = run.state
  const versionsOut = run.candidates.length > 0 ? run.candidateSet : null
  await run.checkpoint((tx) =>
    tx.runs.update(run.run.id, { status: 'completed', versionsOut, receipt, release, endedAt: run.clock.now() }),
  )
  return summary
}
