import { defaultTenant, type RecordedTrajectory, type Store, type Tenant, TrajectoryId } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'

/** Trajectories among which the beginning of an id is looked for: the latest. */
const looked = 10_000

/**
 * The trajectory that a person means: by its id or the beginning of it, by a session's name, or by the id of one of its
 * answers; without anything, the latest.
 * @param tenant whose it is; absent: anybody's, and a session's name is one of the default tenant.
 * @throws InputError when there is none, or several.
 */
export async function findTrajectory(
  store: Store,
  name: string | undefined,
  tenant: Tenant | undefined,
): Promise<RecordedTrajectory> {
  const own = tenant === undefined ? {} : { tenant }
  if (name === undefined) {
    const [latest] = await store.trajectories.summaries({ ...own, limit: 1 })
    const found = latest ? await store.trajectories.get(latest.id) : null
    if (found) return found
    throw new InputError({
      code: 'input/no-trajectories',
      message:
        tenant === undefined
          ? 'This store has no trajectories yet.'
          : `The tenant "${tenant}" has no trajectories yet.`,
      hint: 'Start the gateway with `ratchet serve`, point your agent at it, and let it work.',
    })
  }
  const exact = TrajectoryId.safeParse(name)
  const named = exact.success ? await store.trajectories.get(exact.data) : null
  if (named) return named
  // The gateway takes half a second to load.
  const { readResponseId, trajectoryOfSession } = await import('../../gateway/index.ts')
  for (const id of [trajectoryOfSession(tenant ?? defaultTenant, name), readResponseId(name)?.trajectory]) {
    const found = id === undefined ? null : await store.trajectories.get(id)
    if (found) return found
  }
  const summaries = await store.trajectories.summaries({ ...own, limit: looked })
  const matches = summaries.filter(({ id }) => id.startsWith(name))
  const [match] = matches
  const found = match && matches.length === 1 ? await store.trajectories.get(match.id) : null
  if (found) return found
  throw new InputError({
    code: 'input/unknown-trajectory',
    message:
      matches.length > 1 ? `${matches.length} trajectories begin with "${name}".` : `There is no trajectory "${name}".`,
    hint:
      matches.length > 1
        ? 'Write more of the id; `ratchet trajectories` lists them.'
        : 'Give an id, the beginning of one, a session, or the id of an answer; `ratchet trajectories` lists them.',
  })
}
