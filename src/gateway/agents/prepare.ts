import { asWeights, type ChatUpstream, type ParameterName, type Store, type Version } from '../../core/index.ts'
import { isUpstreamFailure } from '../../model/openai/index.ts'
import type { Log } from '../log.ts'
import type { DeclaredAgent } from './declare.ts'
import { memoryParameter } from './served-memory.ts'

type Agents = ReadonlyMap<string, DeclaredAgent>

/** Makes Versions of an agent ready to be served. @throws UpstreamFailure for weights that cannot be. */
export type PrepareVersions = (agent: string, versions: ReadonlyMap<ParameterName, Version>) => Promise<void>

/** What makes Versions of declared agents ready: their upstream loads the adapter, and a memory is indexed. Texts need nothing. */
export function prepareVersions(agents: Agents, upstream: Pick<ChatUpstream, 'prepare'>): PrepareVersions {
  return async (agent, versions) => {
    const declared = agents.get(agent)
    const weights = asWeights(versions.get('model')?.value)
    if (declared && weights) await upstream.prepare(declared.model, weights)
    const memory = versions.get(memoryParameter)
    if (memory) await declared?.memory?.serving(memory, 0)?.prepare()
  }
}

export interface PrepareReleasesOptions {
  readonly agents: Agents
  readonly store: Pick<Store, 'releases' | 'versions'>
  readonly upstream: Pick<ChatUpstream, 'prepare'>
  readonly log: Log
}

/**
 * Makes each agent's current release ready, before anybody asks.
 * @throws UpstreamFailure `refused` for a release that no upstream will ever serve: a mistake in the configuration. What
 * may go better the next time is told of in the log: the requests that need it try again.
 */
export async function prepareReleases({ agents, store, upstream, log }: PrepareReleasesOptions): Promise<void> {
  const prepare = prepareVersions(agents, upstream)
  for (const agent of agents.keys()) {
    const current = await store.releases.current(agent)
    const release = current && (await store.releases.get(current.release))
    const id = release?.versions['model']
    const model = id === undefined ? null : await store.versions.get(id)
    if (!release || !model) continue
    try {
      await prepare(agent, new Map([['model', model]]))
    } catch (err) {
      if (isUpstreamFailure(err) && err.kind === 'refused') throw err
      log.error({ err, release: release.id }, 'a release cannot be served now: its requests will try again')
    }
  }
}
