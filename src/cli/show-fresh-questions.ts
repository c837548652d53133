import { defaultBudget } from '../agent/index.ts'
import pc from 'picocolors'
import {
  asWeights,
  type Json,
  type Message,
  type ModelService,
  type Store,
  type Task,
  VersionId,
  savedAt,
  visible,
} from '../core/index.ts'
import { assertSameBase } from '../learn/index.ts'
import { Registry } from '../release/index.ts'
import { ask, type LearnConfig, type SearchJob } from '../recipe/index.ts'
import type { Progress } from '../report/index.ts'

interface Exhibit {
  readonly store: Store
  readonly model: ModelService
  readonly job: SearchJob
  readonly config: LearnConfig
  readonly progress: Progress
}

/** Puts three held-out questions that the test did not use to whatever serves now, and shows every word. */
export async function showFreshQuestions({ store, model, job, config, progress }: Exhibit): Promise<void> {
  const questions = freshTasks(job.source.holdout, job.source.train[0]?.tier, config.schedule.holdoutTasks)
  if (questions.length === 0) return
  const { release } = await new Registry(store).current(job.agent.name)
  const version = await store.versions.get(VersionId.parse(release.versions.model))
  const value = asWeights(version?.value)
  if (value) assertSameBase('model', value, model)
  const blob = value?.adapter ?? null
  const adapter = blob === null ? null : await model.loadAdapter(await savedAt(store.blobs, blob))
  const budget = { ...defaultBudget, ...config.episode }
  progress.say('')
  progress.say(pc.bold('Three fresh questions to the agent that serves now'))
  for (const task of questions) {
    const { messages, correct } = await ask(job.agent, model, adapter, job.source, task, budget)
    progress.say('')
    for (const message of messages) for (const line of shown(message)) progress.say(`  ${line}`)
    progress.say(correct ? pc.green('  ✓ right') : pc.red('  ✗ wrong'))
  }
}

function freshTasks(holdout: readonly Task[], tier: string | undefined, used: number): readonly Task[] {
  const ofTier = holdout.filter((task) => task.tier === tier)
  return ofTier.slice(used, used + 3)
}

/** A call's argument as a person reads it. */
const written = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** A message as lines for the terminal; control characters of model output never reach it. */
export function shown(message: Message): readonly string[] {
  switch (message.role) {
    case 'assistant':
      return [
        ...(message.content === '' ? [] : visible(message.content).split('\n')),
        ...(message.toolCalls ?? []).map((call) =>
          pc.cyan(`› ${call.name} ${visible(Object.values(call.arguments).map(written).join(' '))}`),
        ),
        ...(message.malformedCalls ?? []).map(({ text }) => pc.red(`› ${visible(text)}`)),
      ]
    case 'tool':
      return visible(message.content)
        .split('\n')
        .map((line) => pc.dim(`    ${line}`))
    case 'system':
    case 'user':
      return [pc.bold(visible(message.content))]
  }
}
