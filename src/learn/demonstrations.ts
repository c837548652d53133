import { demonstration } from '../agent/index.ts'
import type { DemonstratedEpisode, Demonstration, ToolDefinition } from '../core/index.ts'
import type { LearnOptions } from './options.ts'

/** A demonstration as the model reads it, with what was asked in it. */
export interface RenderedDemonstration extends Demonstration {
  readonly instruction: string
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
  const toolsOf = async ({ task = train[0] }: DemonstratedEpisode) => {
    if (task === undefined) return []
    const tools = known.get(task.id)
    if (tools) return tools
    const episode = await environment.open(task, 0)
    await episode.close()
    known.set(task.id, episode.tools)
    return episode.tools
  }
  const rendered: RenderedDemonstration[] = []
  for (const one of demonstrations) {
    const { messages } = one
    const instruction = one.task?.instruction ?? messages.find(({ role }) => role === 'user')?.content ?? ''
    rendered.push({ ...demonstration(messages, await toolsOf(one), renderer), instruction })
  }
  return rendered
}
