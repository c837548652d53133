import type { Canary, Run, Store } from '../core/index.ts'

/** Canaries that are read first; more, where the run is older than these. */
const page = 100

/** The canary that a run began, running or ended; `undefined` where it began none. */
export async function ownCanary(
  { canaries }: Pick<Store, 'canaries'>,
  { id, agent, startedAt }: Pick<Run, 'id' | 'agent' | 'startedAt'>,
): Promise<Canary | undefined> {
  for (let limit = page; ; limit *= 2) {
    const latest = await canaries.list({ agent, limit })
    const own = latest.find(({ run }) => run === id)
    const [oldest] = latest.slice(-1)
    if (own || latest.length < limit || (oldest && oldest.startedAt < startedAt)) return own
  }
}
