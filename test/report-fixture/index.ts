import { defaultBudget } from '../../src/agent/index.ts'
import {
  type Json,
  mintVersion,
  type ReleaseId,
  type Reward,
  rng,
  type Run,
  type RunId,
  type RunStatus,
  type Store,
} from '../../src/core/index.ts'
import type { Arm, Baseline, LearnEvent } from '../../src/learn/index.ts'
import { attempt, episode, tasksOf } from './episodes.ts'
import { judge } from './judge.ts'
import { learning, unsteered } from './learning.ts'
import { at, fixtureRun, rate, tierName, tiers, UPDATES } from './shape.ts'
import { FAMILIES, found, looked, PASSES, stopped } from './steering.ts'

export { fixtureRun } from './shape.ts'

/** What a made-up run is like. */
export interface FixtureOptions {
  readonly status?: RunStatus
  /** Where it ended; default at its end. */
  readonly until?: 'started' | 'primed' | 'updated' | 'measured' | 'done'
  /** Probability of success on held-out tasks. */
  readonly skill?: Partial<Record<Arm, number>>
  readonly tasks?: number
  readonly control?: boolean
  /** Whether it steers itself and tells so; default true. `false`: as runs of earlier versions told their story. */
  readonly steered?: boolean
  /** Of a failed run; default: the machine has too little memory. */
  readonly failure?: Run['failure']
  /** Text put wherever a model or a document could have put it. */
  readonly hostile?: string
}

/** Scripted policies, as a job would have scored them. */
const baselinesOf = (hostile: string | undefined): readonly Baseline[] =>
  tiers.flatMap((of) => {
    const tier = tierName(of, hostile)
    return [
      { name: 'constant answer', tier, rate: rate(of === 'composed' ? 52 : 29, 400) },
      { name: 'empty tools', tier, rate: rate(of === 'composed' ? 71 : 31, 400) },
      { name: 'first hit', tier, rate: rate(of === 'composed' ? 33 : 96, 400) },
      { name: hostile ?? 'scripted expert', tier, rate: rate(400, 400) },
    ]
  })

/** Records a made-up run, made by code and by the real gate, as `learn` would have. */
export async function recordRun(store: Store, options: FixtureOptions = {}): Promise<RunId> {
  const { status = 'completed', until = 'done', tasks: count = 400, control = true, steered = true, hostile } = options
  const {
    failure = {
      code: 'model/out-of-memory',
      message: hostile ?? 'The model asked for 41 GiB of memory; 16 GiB are there.',
    },
  } = options
  const skill = { base: 0.004, primed: 0.22, serving: 0.22, control: 0.38, learned: 0.93, ...options.skill }
  const random = rng('report-fixture')
  const [before, after] = ['0'.repeat(64), '1'.repeat(64)].map((adapter, i) =>
    mintVersion(
      'model',
      {
        kind: 'weights',
        base: 'minimind2-small',
        baseHash: 'minimind2-small-content',
        adapter: i === 0 ? null : adapter,
      },
      { parents: [], run: null },
    ),
  ) as [ReturnType<typeof mintVersion>, ReturnType<typeof mintVersion>]
  const run: Run = {
    id: fixtureRun,
    agent: hostile ?? 'librarian',
    config: {
      control,
      deterministic: false,
      learn: { model: hostile ?? 'minimind2-small', schedule: { updates: UPDATES, target: 0.97 } },
    },
    seed: 7,
    status: 'running',
    versionsIn: { model: before.id },
    versionsOut: null,
    receipt: null,
    release: null,
    failure: null,
    startedAt: at,
    endedAt: null,
  }
  await store.versions.put(before)
  await store.versions.put(after)
  await store.runs.create(run)
  const reached = (stage: NonNullable<FixtureOptions['until']>) =>
    ['started', 'primed', 'updated', 'measured', 'done'].indexOf(stage) <=
    ['started', 'primed', 'updated', 'measured', 'done'].indexOf(until)

  const events: LearnEvent[] = [
    {
      type: 'started',
      runId: run.id,
      agent: run.agent,
      seed: 7,
      resumedAt: null,
      chosen: { budget: defaultBudget, families: FAMILIES, demonstrations: 16, names: 0, temperature: 0.7 },
    },
    ...found(failure, hostile),
  ]
  if (reached('primed')) {
    for (let pass = 1; pass <= PASSES; pass++) {
      const metrics = { loss: 2.9 * 0.55 ** pass + 0.1 * random.next(), gradNorm: 1.4, steps: 1, tokens: 430 }
      events.push({ type: 'primed', pass, passes: 32, metrics, seconds: 2.1 * pass }, ...looked(pass, hostile))
    }
  }
  if (reached('updated')) events.push(...learning(random, hostile))
  if (failure?.code === 'learn/nothing-learned') events.push(stopped(UPDATES, hostile))
  else if (reached('measured'))
    events.push({ type: 'enough', update: UPDATES, reason: 'updates', message: `All ${UPDATES} updates are done.` })

  const [holdout, outcomes] = [tasksOf(count, hostile), new Map<Arm, Map<string, Reward>>()]
  let [receipt, release] = [null as Awaited<ReturnType<typeof judge>>['receipt'] | null, null as ReleaseId | null]
  if (reached('measured')) {
    events.push(...baselinesOf(hostile).map((baseline) => ({ type: 'baseline' as const, ...baseline })))
    const arms: Arm[] = ['base', 'primed', ...(control ? (['control'] as const) : []), 'learned']
    for (const arm of arms) {
      const episodes = holdout.map((task) =>
        episode(run.id, arm, task, attempt(random, arm, task, skill[arm]), hostile),
      )
      await store.trajectories.append(episodes.map((recorded) => ({ ...recorded, run: run.id })))
      outcomes.set(arm, new Map(episodes.map(({ trajectory, reward }) => [trajectory.task.id, reward])))
      for (const tier of tiers) {
        const rewards = episodes.filter(({ trajectory }) => trajectory.task.tier === tier).map(({ reward }) => reward)
        const seen = rewards.filter(({ status: s }) => s !== 'missing')
        const solved = seen.filter(({ value }) => value === 1).length
        const measured = rate(solved, seen.length, rewards.length - seen.length)
        events.push({
          type: 'evaluated',
          arm,
          split: 'holdout',
          tier: tierName(tier, hostile),
          update: UPDATES,
          rate: measured,
        })
      }
    }
  }
  if (reached('done')) {
    const judged = await judge(store, run, holdout, outcomes, { before: before.id, after: after.id })
    receipt = judged.receipt
    events.push(...judged.events)
    release = judged.release
  }
  await store.runs.appendEvents(
    (steered ? events : events.flatMap(unsteered)).map(({ type, ...data }, sequence) => ({
      run: run.id,
      sequence,
      type,
      data: data as unknown as Record<string, Json>,
      at,
    })),
  )
  const phase = { started: 'prime', primed: 'prime', updated: 'improve', measured: 'test', done: 'done' }[until]
  await store.runs.saveCheckpoint({
    run: run.id,
    sequence: 0,
    state: stateAt(phase, reached('updated')),
    blobs: {},
    at,
  })
  await store.runs.update(run.id, {
    status,
    receipt: receipt?.id ?? null,
    release,
    versionsOut: receipt ? { model: after.id } : null,
    failure: status === 'failed' ? failure : null,
    endedAt: status === 'running' ? null : at + 372_000,
  })
  return run.id
}

function stateAt(phase: string, updated: boolean): Json {
  return {
    phase,
    update: updated ? UPDATES : 0,
    best: updated ? { update: 25, success: 0.93 } : null,
    tokensSampled: 301_442,
    tokensTrained: 212_880,
    seconds: 372,
  }
}
