import type { z } from 'zod'
import { InputError } from '../../errors/index.ts'
import type { ServeConfig } from '../../gateway/index.ts'
import { configOfRun } from '../kept-config.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

/** Runs that are looked through, the latest first. */
const mostRuns = 1_000

/**
 * What of a gateway's configuration serves an agent that `ratchet learn` taught: its model, laid out and rounded as in its
 * latest run, in the engine or at the server that it learned at.
 * @throws InputError (`input/nothing-learned`) for an agent that has no run of `ratchet learn` in the store.
 */
export async function learnedAgent(
  flags: StoreFlags,
  agent: string,
): Promise<Pick<z.input<typeof ServeConfig>, 'upstreams' | 'agents'>> {
  const runs = await withStore(flags, 'read', (store) => store.runs.list({ limit: mostRuns }))
  const configs = runs.flatMap((run) => configOfRun(run) ?? [])
  const config = configs.find((one) => one.agent === agent)
  if (config === undefined) throw nothingLearned(agent, [...new Set(configs.map((one) => one.agent))])
  const { model, renderer, precision, server, adapter } = config
  const where = server === undefined ? { name: 'embedded', url: 'embedded' } : { name: 'tinker', url: 'tinker', server }
  return {
    upstreams: [{ ...where, model, renderer, precision }],
    agents: [{ name: agent, model, rank: adapter.rank }],
  }
}

const nothingLearned = (agent: string, known: readonly string[]) =>
  new InputError({
    code: 'input/nothing-learned',
    message: `No run of \`ratchet learn\` in this store is of the agent "${agent}"; there are runs of: ${known.join(', ') || 'none'}.`,
    hint: 'Give the agent and the store of a run, as `ratchet runs` lists them, or describe the agent in a configuration file (docs/gateway.md).',
  })
