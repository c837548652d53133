import {
  declareAgents,
  gatewayLogger,
  prepareReleases,
  prepareVersions,
  type RunningGateway,
  startGateway,
  type StartOptions,
} from '../../gateway/index.ts'
import { openReleaseRouter } from '../../release/index.ts'

/**
 * A gateway that serves the releases of its agents: they are declared, what serves them is ready before anybody asks, and
 * from then on it follows the store. Closing it closes the router, too.
 * @throws InputError for agents that began in this store as others, UpstreamFailure for a release that no upstream can
 * serve, and what {@link startGateway} throws.
 */
export async function serveReleases(options: Omit<StartOptions, 'router'>): Promise<RunningGateway> {
  const { store, upstream, logger: log = gatewayLogger() } = options
  const agents = await declareAgents(options)
  if (agents.size === 0) return startGateway({ ...options, logger: log })
  await prepareReleases({ agents, store, upstream, log })
  const router = await openReleaseRouter({
    store,
    agents: [...agents.keys()],
    prepare: prepareVersions(agents, upstream),
    onProblem: (err) => log.error({ err }, 'what is to serve cannot be read or made ready'),
    ...(options.clock ? { clock: options.clock } : {}),
  })
  try {
    const releases = { ...options.releases, onServingChanged: () => router.refresh() }
    const gateway = await startGateway({ ...options, releases, router, logger: log })
    return {
      ...gateway,
      async close() {
        await gateway.close()
        await router.close()
      },
    }
  } catch (error) {
    await router.close()
    throw error
  }
}
