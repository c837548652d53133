import {
  GroupId,
  type Json,
  type Message,
  mintVersion,
  NodeId,
  ReleaseId,
  type Reward,
  rng,
  RunId,
  type Run,
  type RunStatus,
  type Store,
  type Task,
  TaskId,
  type Trajectory,
  TrajectoryId,
  type VersionId,
} from '../src/core/index.ts'
import { claimHoldout, pairedGate, wilson } from '../src/gate/index.ts'
import type { Arm, LearnEvent, SuccessRate } from '../src/learn/index.ts'
import type { Baseline } from '../src/cli/report/index.ts'

/** What a made-up run is like. */
export interface FixtureOptions {
  readonly status?: RunStatus
  /** Where it ended; default at its end. */
  readonly until?: 'started' | 'primed' | 'updated' | 'measured' | 'done'
  /** Probability of success on held-out tasks. */
  readonly skill?: Partial<Record<Arm, number>>
  readonly tasks?: number
  readonly control?: boolean
  /** Text put wherever a model or a document could have put it. */
  readonly hostile?: string
}

export const fixtureRun = RunId.parse('run-20261120063107-k3x9')
const at = Date.UTC(2026, 10, 20, 6, 31, 7)
const UPDATES = 30
const tiers = ['single-hop', 'composed'] as const

const rate = (successes: number, n: number, missing = 0): SuccessRate => ({
  success: n === 0 ? null : successes / n,
  n,
  ci: wilson(successes, n, 0.95),
  missing,
})

/** Scripted policies, as a job would have scored them. */
export const fixtureBaselines: readonly Baseline[] = tiers.flatMap((tier) => [
  { name: 'constant answer', tier, rate: rate(tier === 'composed' ? 52 : 29, 400) },
  { name: 'empty tools', tier, rate: rate(tier === 'composed' ? 71 : 31, 400) },
  { name: 'first hit', tier, rate: rate(tier === 'composed' ? 33 : 96, 400) },
  { name: 'scripted expert', tier, rate: rate(400, 400) },
])

/** Records a made-up run, made by code and by the real gate, as `learn` would have. */
export async function recordRun(store: Store, options: FixtureOptions = {}): Promise<RunId> {
  const { status = 'completed', until = 'done', tasks: count = 400, control = true, hostile } = options
  const skill = { base: 0.004, primed: 0.22, serving: 0.22, control: 0.38, learned: 0.93, ...options.skill }
  const random = rng('report-fixture')
  const [before, after] = ['0'.repeat(64), '1'.repeat(64)].map((adapter, i) =>
    mintVersion(
      'model',
      { kind: 'weights', base: 'minimind2-small', adapter: i === 0 ? null : adapter },
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

  const events: LearnEvent[] = [{ type: 'started', runId: run.id, agent: run.agent, seed: 7, resumedAt: null }]
  if (reached('primed')) {
    for (let pass = 1; pass <= 5; pass++) {
      const metrics = { loss: 2.9 * 0.55 ** pass + 0.1 * random.next(), gradNorm: 1.4, steps: 1, tokens: 430 }
      events.push({ type: 'primed', pass, passes: 5, metrics, seconds: 2.1 * pass })
    }
  }
  if (reached('updated')) events.push(...learning(random, hostile))

  const [holdout, outcomes] = [tasksOf(count, hostile), new Map<Arm, Map<string, Reward>>()]
  let [receipt, release] = [null as Awaited<ReturnType<typeof judge>>['receipt'] | null, null as ReleaseId | null]
  if (reached('measured')) {
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
    events.map(({ type, ...data }, sequence) => ({
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
    failure:
      status === 'failed'
        ? { code: 'model/out-of-memory', message: hostile ?? 'The model asked for 41 GiB of memory; 16 GiB are there.' }
        : null,
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

/** Updates that rise and flatten, with a look at validation every five. */
function learning(random: ReturnType<typeof rng>, hostile: string | undefined): LearnEvent[] {
  const events: LearnEvent[] = []
  const level = (update: number, top: number, pace: number) => 0.2 + (top - 0.2) * (1 - Math.exp(-update / pace))
  const look = (update: number) => {
    for (const tier of tiers) {
      const n = tier === 'composed' ? 150 : 200
      const successes = Math.round(n * (tier === 'composed' ? level(update, 0.36, 14) - 0.12 : level(update, 0.95, 7)))
      const arm: Arm = update === 0 ? 'primed' : 'learned'
      events.push({
        type: 'evaluated',
        arm,
        split: 'validation',
        tier: tierName(tier, hostile),
        update,
        rate: rate(successes, n),
      })
    }
  }
  look(0)
  for (let update = 1; update <= UPDATES; update++) {
    const p = Math.min(0.97, level(update, 0.93, 7) + 0.08 * (random.next() - 0.5))
    const metrics = {
      loss: 0.02 * (random.next() - 0.5),
      gradNorm: 0.3 + 0.5 * random.next() * Math.exp(-update / 12),
      steps: 2,
      samples: 118,
      tokens: 7600,
      computed: 4900,
      missing: update === 11 ? 2 : 0,
      uniformGroups: Math.round(3 + 9 * (update / UPDATES) * random.next()),
      singletonGroups: 0,
      vetoed: Math.round(31 * Math.exp(-update / 5)),
      brokenCalls: Math.round(24 * Math.exp(-update / 4)),
    }
    const seconds = 10.5 + 8.4 * update
    events.push({
      type: 'updated',
      update,
      updates: UPDATES,
      rollouts: rate(Math.round(128 * p), 128),
      reward: p,
      metrics,
      tokensSampled: 7800 + Math.round(900 * random.next()),
      tokensPerSecond: 1800 + 200 * random.next(),
      seconds,
      etaSeconds: 8.4 * (UPDATES - update),
    })
    if (update % 5 === 0) look(update)
  }
  return events
}

const tierName = (tier: string, hostile: string | undefined) => (hostile === undefined ? tier : `${tier} ${hostile}`)
const features = [
  'aspect-ratio',
  'Element.checkVisibility',
  'text-wrap',
  'Array.fromAsync',
  'dialog.closedby',
  ':has()',
]

interface FixtureTask extends Task<'holdout'> {
  readonly feature: string
  readonly version: string
}

function tasksOf(count: number, hostile: string | undefined): readonly FixtureTask[] {
  return tiers.flatMap((tier, t) =>
    Array.from({ length: count }, (_, i) => {
      const feature = `${features[i % features.length]}${i >= features.length ? `.${i}` : ''}`
      const instruction = `From which version does Firefox support ${feature}?${hostile === undefined ? '' : ` ${hostile}`}`
      const id = TaskId.parse(`since/firefox/${t}-${i}`)
      return {
        id,
        instruction,
        data: null,
        split: 'holdout' as const,
        tier,
        feature,
        version: String(60 + ((i * 7) % 70)),
      }
    }),
  )
}

type Ending = 'solved' | 'wrong' | 'broken' | 'missing' | 'rambles'

function attempt(random: ReturnType<typeof rng>, arm: Arm, { tier }: FixtureTask, skill: number): Ending {
  const chance = tier === 'composed' ? skill * 0.3 : skill
  if (random.next() < chance) return 'solved'
  if (arm === 'base') return 'rambles'
  return random.next() < 0.01 ? 'missing' : random.next() < (arm === 'learned' ? 0.04 : 0.4) ? 'broken' : 'wrong'
}

function episode(run: RunId, arm: Arm, task: FixtureTask, ending: Ending, hostile: string | undefined) {
  const { feature, version } = task
  const near = [`${feature}.polyfill`, feature, `${feature}-legacy`]
  const document = [
    'chrome 112',
    'edge 112',
    `firefox ${version}`,
    'safari 16.4',
    ...(hostile === undefined ? [] : [hostile]),
  ]
  const calls = (name: string, value: string): Message => ({
    role: 'assistant',
    content: '',
    toolCalls: [{ name, arguments: { [{ search: 'query', open: 'title' }[name] ?? 'text']: value } }],
  })
  const shows = (name: string, content: string): Message => ({ role: 'tool', name, content })
  const opening: Message[] = [{ role: 'user', content: task.instruction }]
  const looked = [calls('search', feature), shows('search', near.join('\n'))]
  const wrongVersion = String(Number(version) + 3)
  const said: Record<Ending, Message[]> = {
    solved: [
      ...looked,
      calls('open', feature),
      shows('open', document.join('\n')),
      calls('answer', `firefox ${version}`),
    ],
    wrong: [
      ...looked,
      calls('open', `${feature}-legacy`),
      shows('open', `chrome 88\nfirefox ${wrongVersion}\nsafari never`),
      calls('answer', `firefox ${wrongVersion}`),
    ],
    broken: [
      ...looked,
      {
        role: 'assistant',
        content: hostile ?? '',
        malformedCalls: [{ text: hostile ?? `> opne ${feature}`, problem: 'No tool is called "opne".' }],
      },
    ],
    missing: looked,
    rambles: [
      {
        role: 'assistant',
        content:
          hostile ??
          `Firefox is a popular web browser. ${feature} is a feature that lets developers create web pages that adapt to screens, and it was introduced in the early versions of the`,
      },
    ],
  }
  const messages = [...opening, ...said[ending]]
  const answer = ending === 'solved' ? `firefox ${version}` : ending === 'wrong' ? `firefox ${wrongVersion}` : null
  const trajectory: Trajectory = {
    id: TrajectoryId.parse(`${run}/holdout/${arm}/update-${UPDATES}/${task.id}/0`),
    task: { id: task.id, instruction: task.instruction, split: 'holdout', tier: tierName(task.tier ?? 'all', hostile) },
    group: GroupId.parse(`${arm}/${task.id}`),
    attempt: 0,
    seed: 1,
    nodes: messages.map((message, i) => ({
      id: NodeId.parse(`n${i}`),
      parent: i === 0 ? null : NodeId.parse(`n${i - 1}`),
      message,
      spans: message.role === 'assistant' ? [sampled(9)] : [],
    })),
    steps: [],
    decisions: [],
    stopReason: (
      {
        solved: 'done',
        wrong: 'done',
        broken: 'malformed-call',
        missing: 'environment-error',
        rambles: 'done',
      } as const
    )[ending],
    failure: ending === 'missing' ? { code: 'environment/failed', message: hostile ?? 'the corpus went away' } : null,
    finalState: { state: { task: task.id, answer, accepted: [`firefox ${version}`, version] }, counts: { search: 1 } },
    startedAt: at,
    seconds: 0.4,
  }
  return { trajectory, reward: rewardOf(ending, hostile) }
}

const sampled = (n: number) => ({
  kind: 'sampled' as const,
  tokens: Array.from({ length: n }, (_, i) => i),
  behaviourLogprobs: Array.from({ length: n }, () => -0.1),
  logprobs: Array.from({ length: n }, () => -0.1),
  sampling: { temperature: 0, truncated: false },
})

function rewardOf(ending: Ending, hostile: string | undefined): Reward {
  switch (ending) {
    case 'solved':
    case 'wrong':
      return { status: 'scored', value: ending === 'solved' ? 1 : 0, parts: { solved: ending === 'solved' ? 1 : 0 } }
    case 'broken':
      return {
        status: 'vetoed',
        value: 0,
        parts: { solved: 0 },
        guard: 'broken-calls',
        reason: hostile ?? '1 calls could not be read, the first: No tool is called "opne".',
      }
    case 'rambles':
      return {
        status: 'vetoed',
        value: 0,
        parts: { solved: 0 },
        guard: 'no-answer',
        reason: 'the episode ended (done) without an answer',
      }
    case 'missing':
      return { status: 'missing', value: null, parts: {}, reason: 'the corpus went away' }
  }
}

/** Gates the learned arm against the base by the real gate, and releases it when promoted. */
async function judge(
  store: Store,
  run: Run,
  holdout: readonly FixtureTask[],
  rewards: ReadonlyMap<Arm, ReadonlyMap<string, Reward>>,
  versions: { readonly before: VersionId; readonly after: VersionId },
) {
  const judging = holdout.filter(({ tier }) => tier === 'single-hop')
  const guards = {
    brokenCalls: { allowed: 0.02, range: [0, 1] as [number, number] },
    unfinished: { allowed: 0.02, range: [0, 1] as [number, number] },
  }
  const gate = pairedGate({ margin: 0.02, alpha: 0.05, guards })
  const use = await claimHoldout(store.ledger, { tasks: judging, alpha: gate.alpha, run: run.id, at })
  const of = (arm: Arm, task: string) => rewards.get(arm)?.get(task)
  const counts = (reward: Reward | undefined) => ({
    brokenCalls: reward?.status === 'vetoed' && reward.guard === 'broken-calls' ? 1 : 0,
    unfinished: reward?.status === 'vetoed' && reward.guard === 'broken-calls' ? 1 : 0,
  })
  const receipt = gate.makeReceipt({
    agent: run.agent,
    baseline: run.versionsIn,
    candidate: { model: versions.after },
    outcomes: judging.map(({ id }) => ({
      task: id,
      baseline: of('base', id)?.value ?? null,
      candidate: of('learned', id)?.value ?? null,
      guards: { baseline: counts(of('base', id)), candidate: counts(of('learned', id)) },
    })),
    use,
    rewardRange: [0, 1],
  })
  await store.receipts.put(receipt)
  const release = receipt.decision === 'promote' ? ReleaseId.parse('release-2') : null
  if (release) {
    await store.releases.put({
      id: release,
      agent: run.agent,
      versions: receipt.candidate,
      receipt: receipt.id,
      run: run.id,
      createdAt: at,
    })
    await store.releases.activate({ agent: run.agent, release, reason: 'promote', generation: 1, at })
  }
  const measured = (arm: Arm) => {
    const all = judging.flatMap(({ id }) => of(arm, id) ?? [])
    const seen = all.filter(({ status }) => status !== 'missing')
    return rate(seen.filter(({ value }) => value === 1).length, seen.length, all.length - seen.length)
  }
  const summary = {
    runId: run.id,
    base: measured('base'),
    primed: measured('primed'),
    control: rewards.has('control') ? measured('control') : null,
    learned: measured('learned'),
    decision: receipt.decision,
    releaseId: release,
    seconds: 372,
    tokensSampled: 301_442,
    tokensTrained: 212_880,
  }
  const events: LearnEvent[] = [
    { type: 'gated', receipt: receipt.id, decision: receipt.decision, reasons: receipt.reasons },
    ...(release ? [{ type: 'released' as const, release }] : []),
    { type: 'finished', summary },
  ]
  return { receipt, release, events }
}
