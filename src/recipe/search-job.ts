import { type Agent, defineAgent, demonstration, user, weights } from '../agent/index.ts'
import {
  type DemonstratedEpisode,
  type Environment,
  type HoldoutTask,
  nearestName,
  type Renderer,
  rng,
  type Task,
  type TaskId,
} from '../core/index.ts'
import {
  answerByStratum,
  constantAnswer,
  corpusFromJsonl,
  demonstrationRows,
  loadMdn,
  mdn,
  type Policy,
  play,
  SearchEnvironment,
  searchTools,
  tasksFromJsonl,
  verify,
} from '../environment/index.ts'
import { InputError, RatchetError } from '../errors/index.ts'
import { type RolloutSource, rollouts, type ScriptedResults } from '../learn/index.ts'
import { answerableWarning } from './answerable.ts'
import type { LearnConfig } from './learn-config.ts'

/** The job of answering questions from documents: who acts, where, on which tasks, and what to start from. */
export interface SearchJob {
  readonly agent: Agent
  readonly source: RolloutSource
  readonly demonstrations: readonly DemonstratedEpisode[]
  /** What is to be known before the run, a line each. */
  readonly warnings?: readonly string[]
  /** Scores the scripted policies on held-out tasks. */
  readonly baselines: (tasks: readonly HoldoutTask[]) => Promise<readonly ScriptedResults[]>
}

/** An agent that answers from documents with `search`, `open` and `answer`. */
function searchAgent({ agent, model, adapter }: LearnConfig): Agent {
  return defineAgent({
    name: agent,
    parameters: { model: weights({ base: model, rank: adapter.rank }) },
    run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
  })
}

/** Puts the job together. `countTokens` measures titles, which a small model has to copy. */
export async function openSearchJob(
  config: LearnConfig,
  seed: number,
  renderer: Renderer,
  countTokens: (text: string) => number,
): Promise<SearchJob> {
  return config.environment.corpus === 'mdn'
    ? mdnJob(config, seed, renderer, countTokens)
    : ownJob(config, seed, renderer)
}

async function mdnJob(
  config: LearnConfig,
  seed: number,
  renderer: Renderer,
  countTokens: (text: string) => number,
): Promise<SearchJob> {
  const { tiers = ['single-hop'], maxTitleTokens, tasks: tasksFile } = config.environment
  if (tasksFile !== undefined) {
    throw new InputError({
      code: 'input/incomplete-job',
      message: `environment.tasks names ${tasksFile}, and the corpus is "mdn", which has tasks of its own.`,
      hint: 'Name a corpus of your own in environment.corpus, or leave environment.tasks out.',
    })
  }
  const { environment, tasks } = loadMdn({
    maxTitleLength: maxTitleTokens,
    titleLength: (title) => countTokens(` ${title}`),
  })
  refuseUnknownTiers(tiers, tasks.train)
  const learned = tasks.train.filter(({ tier }) => tier !== undefined && tiers.includes(tier))
  // Tasks of other tiers would take a third of the test, and say nothing about what is learned.
  const measured = [...tiers, ...tiers.map((tier) => `${tier} reworded`)]
  const ofThem = ({ tier = '' }: Pick<Task, 'tier'>) => measured.includes(tier)
  const source = rollouts(environment, [
    ...learned,
    ...tasks.validation.filter(ofThem),
    ...tasks.holdout.filter(ofThem),
  ])

  const shown = rng('demonstrations', seed).shuffle(learned)
  const wanted = typeof config.demonstrations === 'number' ? config.demonstrations : 0
  const plays = await Promise.all(shown.slice(0, wanted).map((task) => play(environment, mdn.expert, task, verify)))
  const demonstrations =
    typeof config.demonstrations === 'string' ? demonstrationsFrom(config.demonstrations, renderer) : plays

  const scripts: readonly Script[] = [
    { name: 'constant answer', policy: answerByStratum(tasks.train, mdn.plainTierOf), beat: true },
    { name: 'empty tools', policy: answerByStratum(tasks.train, mdn.stratumOf), beat: true },
    { name: 'first hit', policy: mdn.firstHit, beat: true },
    { name: 'scripted expert', policy: mdn.expert, beat: false },
  ]
  return {
    agent: searchAgent(config),
    source,
    demonstrations,
    baselines: (held) => scoreScripts(environment, scripts, held),
  }
}

/** A policy that learns nothing. Careless ones are to be beaten; an expert that reads the task's data is no rival. */
interface Script {
  readonly name: string
  readonly policy: Policy
  readonly beat: boolean
}

async function scoreScripts(
  environment: Environment,
  scripts: readonly Script[],
  tasks: readonly HoldoutTask[],
): Promise<readonly ScriptedResults[]> {
  const results: ScriptedResults[] = []
  for (const { name, policy, beat } of scripts) {
    const scores = new Map<TaskId, number | null>()
    for (const task of tasks) scores.set(task.id, verify((await play(environment, policy, task, verify)).finalState))
    results.push({ name, beat, scores })
  }
  return results
}

async function ownJob(config: LearnConfig, seed: number, renderer: Renderer): Promise<SearchJob> {
  const { corpus, tasks: tasksFile, tiers } = config.environment
  if (tasksFile === undefined || typeof config.demonstrations === 'number') {
    throw new InputError({
      code: 'input/incomplete-job',
      message: `A corpus of your own (${corpus}) needs tasks and demonstrations of your own.`,
      hint: 'Set environment.tasks and demonstrations to JSONL files; docs/learn.md shows both formats.',
    })
  }
  const documents = corpusFromJsonl({ path: corpus })
  const environment = new SearchEnvironment(documents)
  const learnable = (task: Task) => task.split !== 'train' || tiers === undefined || tiers.includes(tierOf(task))
  const all = tasksFromJsonl({ path: tasksFile })
  refuseUnknownTiers(
    tiers ?? [],
    all.filter(({ split }) => split === 'train'),
  )
  const tasks = all.filter(learnable)
  const warning = answerableWarning(tasks, documents, { tasks: tasksFile, corpus })
  const demonstrations = rng('demonstrations', seed).shuffle(demonstrationsFrom(config.demonstrations, renderer))
  const source = rollouts(environment, tasks)
  const scripts: readonly Script[] = [
    { name: 'constant answer', policy: constantAnswer(source.train), beat: true },
    { name: 'empty tools', policy: answerByStratum(source.train, openingOf), beat: true },
  ]
  return {
    agent: searchAgent(config),
    source,
    demonstrations,
    warnings: warning === null ? [] : [warning],
    baselines: (held) => scoreScripts(environment, scripts, held),
  }
}

/** How a question begins, as in "is it" or "which browser": what a policy without tools can tell any tasks apart by. */
const openingOf = ({ instruction, tier = '' }: Task) => [tier, ...instruction.toLowerCase().split(/\s+/, 2)].join(' ')

/** A task without a tier is of this one. */
const tierOf = ({ tier = 'all' }: Pick<Task, 'tier'>) => tier

/** @throws InputError for a tier that no training task is of. */
function refuseUnknownTiers(tiers: readonly string[], train: readonly Task[]): void {
  const known = [...new Set(train.map(tierOf))]
  const unknown = tiers.find((tier) => !known.includes(tier))
  if (unknown === undefined) return
  const meant = nearestName(unknown, known)
  throw new InputError({
    code: 'input/unknown-tier',
    message: `No training task is of the tier "${unknown}", which environment.tiers names${meant ? `: did you mean "${meant}"?` : '.'}`,
    hint: `Name tiers of the training tasks: ${known.map((tier) => `"${tier}"`).join(', ')}.`,
  })
}

function demonstrationsFrom(path: string, renderer: Renderer): DemonstratedEpisode[] {
  return demonstrationRows({ path }).map(({ line, value }) => {
    try {
      demonstration(value.messages, searchTools, renderer, value.mistakes)
      return value
    } catch (error) {
      throw RatchetError.is(error) ? unusable(`Line ${line} of ${path}`, error) : error
    }
  })
}

const unusable = (where: string, { message, hint, cause }: RatchetError) =>
  new InputError({ code: 'input/unusable-demonstration', message: `${where}: ${message}`, hint, cause })
