import type { Environment, Episode, Task } from '../../src/core/index.ts'

/** What an environment does instead; what is not named stays. Hostile ones return what their types forbid. */
export interface Changes {
  readonly open?: (task: Task) => unknown
  readonly opening?: unknown
  readonly tools?: unknown
  readonly step?: (episode: Episode, ...action: Parameters<Episode['step']>) => unknown
  readonly close?: (episode: Episode) => unknown
}

/** An environment of which parts do something else. */
export function changedEnvironment(environment: Environment, changes: Changes): Environment {
  return {
    name: environment.name,
    async open(task, seed) {
      if (changes.open) return (await changes.open(task)) as Episode
      const episode = await environment.open(task, seed)
      return {
        opening: 'opening' in changes ? changes.opening : episode.opening,
        tools: 'tools' in changes ? changes.tools : episode.tools,
        step: (action) => (changes.step ? changes.step(episode, action) : episode.step(action)),
        close: () => (changes.close ? changes.close(episode) : episode.close()),
      } as Episode
    },
  }
}
