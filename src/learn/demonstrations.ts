import { demonstration } from '../agent/index.ts'
import type { DemonstratedEpisode, Demonstration, Environment, Task, ToolDefinition } from '../core/index.ts'
import type { LearnOptions } from './options.ts'

/** A demonstration as the model reads it, with what was asked in it. */
export interface RenderedDemonstration extends Demonstration {
  readonly instruction: string
}

/** The tools of an episode on a task. */
export async function toolsOf(environment: Environment, task: Task): Promise<readonly ToolDefinition[]> {
  const episode = await environment.open(task, 0)
  await episode.close()
  return episode.tools
}

/**
 * Demonstrations as tokens to imitate, each with the tools of an episode on its task; where that is not known, on the first
 * training task.
 * @throws AgentError for a demonstration in which the assistant does nothing; errors of the environment pass through.
 */
export async function renderedDemonstrations({
  prime,
  source: { environment, train },
  model: { renderer },
}: Pick<LearnOptions, 'prime' | 'source' | 'model'>): Promise<readonly RenderedDemonstration[]> {
  const demonstrations = prime?.demonstrations ?? []
  const known = new Map<string, readonly ToolDefinition[]>()
  const toolsFor = async ({ task = train[0] }: DemonstratedEpisode) => {
    if (task === undefined) return []
    const tools = known.get(task.id) ?? (await toolsOf(environment, task))
    known.set(task.id, tools)
    return tools
  }
  const rendered: RenderedDemonstration[] = []
  for (const one of demonstrations) {
    const { messages } = one
    const instruction = one.task?.instruction ?? messages.find(({ role }) => role === 'user')?.content ?? ''
    rendered.push({ ...demonstration(messages, await toolsFor(one), renderer), instruction })
  }
  return rendered
}
