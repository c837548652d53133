import type { Trajectory } from '../../core/index.ts'

/** Which models an episode's answers came from, and what they took. */
export interface CallFacts {
  /** The models that answered, as their upstreams name them. */
  readonly models: readonly string[]
  /** Calls of the model; a call with several choices is one. */
  readonly calls: number
  /** Tokens read and written; `null` where no upstream told them. */
  readonly tokens: { readonly prompt: number; readonly completion: number } | null
}

/** Adds up an episode's calls; one that repeats another's request counts as well, since it cost as much. */
export function callFacts({ steps }: Pick<Trajectory, 'steps'>): CallFacts {
  const calls = new Map(steps.flatMap(({ call }) => (call ? [[call.id, call] as const] : [])))
  const used = [...calls.values()].flatMap(({ usage }) => (usage ? [usage] : []))
  return {
    models: [...new Set([...calls.values()].map(({ servedModel }) => servedModel))],
    calls: calls.size,
    tokens:
      used.length === 0
        ? null
        : {
            prompt: used.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
            completion: used.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
          },
  }
}
