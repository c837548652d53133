import pc from 'picocolors'
import { ReleaseId, type Store } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { Registry, UnknownReleaseError } from '../../release/index.ts'
import { visible } from '../visible.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

interface AgentFlags extends StoreFlags {
  readonly agent?: string
}

const when = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')

const print = (flags: StoreFlags, rows: readonly object[], line: (index: number) => string, empty: string) => {
  if (flags.json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
  else if (rows.length === 0) process.stdout.write(`${pc.dim(empty)}\n`)
  else for (let i = 0; i < rows.length; i++) process.stdout.write(`${line(i)}\n`)
}

/** `ratchet runs`: every learning run, newest first. */
export function runsCommand(flags: AgentFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const runs = await store.runs.list({ ...(flags.agent ? { agent: flags.agent } : {}), limit: 100 })
    const line = (i: number) => {
      const run = runs[i]
      if (!run) return ''
      const outcome = run.failure
        ? visible(`${run.failure.code}: ${run.failure.message}`)
        : (run.release ?? 'nothing released')
      return `${run.id}  ${when(run.startedAt)}  ${run.agent}  seed ${run.seed}  ${run.status}  ${pc.dim(outcome)}`
    }
    print(flags, runs, line, 'No runs yet. Start one with: ratchet learn')
  })
}

/** `ratchet releases`: every release, newest first; the one that serves is marked. */
export function releasesCommand(flags: AgentFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const releases = await store.releases.list({ ...(flags.agent ? { agent: flags.agent } : {}), limit: 100 })
    const serving = new Map<string, string>()
    for (const { agent } of releases) {
      if (!serving.has(agent)) serving.set(agent, (await store.releases.current(agent))?.release ?? '')
    }
    const rows = releases.map((release) => ({ ...release, serving: serving.get(release.agent) === release.id }))
    const line = (i: number) => {
      const release = rows[i]
      if (!release) return ''
      const origin = release.run ?? 'as it was before learning'
      return `${release.serving ? pc.green('●') : ' '} ${release.id}  ${when(release.createdAt)}  ${release.agent}  ${pc.dim(origin)}`
    }
    print(flags, rows, line, 'No releases yet. Start a run with: ratchet learn')
  })
}

/** `ratchet rollback [RELEASE]`: what served before, or the named release, serves again at once. */
export function rollbackCommand(release: string | undefined, flags: AgentFlags): Promise<void> {
  return withStore(flags, 'write', async (store) => {
    const registry = new Registry(store)
    const agent = flags.agent ?? (await onlyAgent(store))
    const back = await registry.rollback(agent, release === undefined ? undefined : releaseIdOf(agent, release))
    if (flags.json) process.stdout.write(`${JSON.stringify(back)}\n`)
    else process.stdout.write(`${pc.green('✓')} ${agent} serves ${back.id} again.\n`)
  })
}

function releaseIdOf(agent: string, release: string): ReleaseId {
  const id = ReleaseId.safeParse(release)
  if (!id.success) throw new UnknownReleaseError(agent, release)
  return id.data
}

async function onlyAgent(store: Store): Promise<string> {
  const agents = [...new Set((await store.releases.list({ limit: 1000 })).map(({ agent }) => agent))]
  const [only] = agents
  if (only !== undefined && agents.length === 1) return only
  throw new InputError({
    code: 'input/which-agent',
    message: agents.length === 0 ? 'This store has no releases.' : `This store has the agents ${agents.join(', ')}.`,
    hint: agents.length === 0 ? 'Start a run with: ratchet learn' : 'Name one with --agent.',
  })
}
