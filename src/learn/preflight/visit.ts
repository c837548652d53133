import {
  type Action,
  type Environment,
  type Episode,
  type LearnableTask,
  type Message,
  ToolDefinition,
} from '../../core/index.ts'
import { checkedEnvironment, thrown } from './checked-environment.ts'
import { sampleArguments } from './sample-arguments.ts'

/** Tools that are called once in a visit, at most. */
const mostTools = 6

/** What a short look into one task showed. */
export interface Visit {
  readonly task: LearnableTask
  /** What was thrown, by the call that threw it, on one line each. */
  readonly errors: Readonly<Partial<Record<'open' | 'step' | 'close', string>>>
  /** `null` when the episode could not be opened. */
  readonly opened: { readonly opening: readonly Message[]; readonly tools: readonly unknown[] } | null
  /** The longest observation, and which act it followed. */
  readonly longest: { readonly text: string; readonly act: string } | null
}

/** Opens a task, calls each tool once with small arguments and says one word, until something ends the episode; closes. */
export async function visit(environment: Environment, task: LearnableTask, callSeconds: number): Promise<Visit> {
  let episode: Episode
  try {
    episode = await checkedEnvironment(environment, callSeconds).open(task, 0)
  } catch (error) {
    return { task, errors: { open: thrown(error) }, opened: null, longest: null }
  }
  const errors: Partial<Record<'step' | 'close', string>> = {}
  let longest: Visit['longest'] = null
  for (const [act, action] of probesOf(episode)) {
    try {
      const { messages, done } = await episode.step(action)
      const text = messages.map(({ content }) => content).join('\n')
      if (longest === null || text.length > longest.text.length) longest = { text, act }
      if (done) break
    } catch (error) {
      errors.step = `${act}: ${thrown(error)}`
      break
    }
  }
  try {
    await episode.close()
  } catch (error) {
    errors.close = thrown(error)
  }
  return { task, errors, opened: { opening: episode.opening, tools: episode.tools }, longest }
}

function probesOf({ tools }: Episode): readonly (readonly [act: string, action: Action])[] {
  const calls = tools.slice(0, mostTools).flatMap((tool): (readonly [string, Action])[] => {
    const known = ToolDefinition.safeParse(tool)
    if (!known.success) return []
    const { name } = known.data
    return [[`a call of "${name}"`, { kind: 'calls', calls: [{ name, arguments: sampleArguments(known.data) }] }]]
  })
  return [...calls, ['a message', { kind: 'message', content: '-' }]]
}
