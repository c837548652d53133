import type { z } from 'zod'
import { agentKey, defaultTenant, type Store, type VersionId } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import type { ServeConfig } from '../../gateway/index.ts'
import type { LearnConfig } from '../../recipe/index.ts'
import { Registry } from '../../release/index.ts'
import { configOfRun } from '../kept-config.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

/**
 * What of a gateway's configuration serves an agent that `ratchet learn` taught: the model that its release was learned on,
 * laid out and rounded as there, in the engine or at the server that it was learned at.
 * @throws InputError (`input/nothing-learned`) where no run of `ratchet learn` is behind what serves.
 * @throws InputError (`input/agent-name`) for a name with a slash.
 * @throws InputError (`input/invalid`) for a run whose configuration this version does not read.
 * @throws UnknownAgentError for an agent that has no release in the store.
 */
export async function learnedAgent(
  flags: StoreFlags,
  agent: string,
): Promise<Pick<z.input<typeof ServeConfig>, 'upstreams' | 'agents'>> {
  if (agentKey(defaultTenant, agent) !== agent) throw unservable(agent)
  const config = await withStore(flags, 'read', (store) => configBehind(store, agent))
  if (config === null) throw nothingLearned(agent)
  const { model, renderer, precision, server, adapter } = config
  const where = server === undefined ? { name: 'embedded', url: 'embedded' } : { name: 'tinker', url: 'tinker', server }
  return {
    upstreams: [{ ...where, model, renderer, precision }],
    agents: [{ name: agent, tenant: defaultTenant, model, rank: adapter.rank }],
  }
}

/** The configuration of the run that a release comes from; what traffic taught since comes from that run, too. */
async function configBehind(store: Store, agent: string): Promise<LearnConfig | null> {
  const { release } = await new Registry(store).current(agent)
  const waiting: VersionId[] = Object.values(release.versions)
  const seen = new Set<VersionId>()
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
    if (seen.has(id)) continue
    seen.add(id)
    const version = await store.versions.get(id)
    const run = version?.run ? await store.runs.get(version.run) : null
    const config = run && configOfRun(run)
    if (config) return config
    waiting.push(...(version?.parents ?? []))
  }
  return null
}

const unservable = (agent: string) =>
  new InputError({
    code: 'input/agent-name',
    message: `The gateway cannot serve an agent whose name has a slash: "${agent}".`,
    hint: 'Learn again under a name without one ("agent" in the configuration).',
  })

const nothingLearned = (agent: string) =>
  new InputError({
    code: 'input/nothing-learned',
    message: `What serves for "${agent}" in this store was not released by a run of \`ratchet learn\`.`,
    hint: 'See `ratchet releases` and `ratchet runs`. Serve what a program learned with `deploy` there, or by a configuration that says its model, layout and rank (docs/learn.md).',
  })
