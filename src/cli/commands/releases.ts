import pc from 'picocolors'
import { type Repositories, type Run, visible } from '../../core/index.ts'
import { type AgentOverview, agentNames, overviewOf, percentOf } from '../../release/index.ts'
import { minuteOf } from '../when.ts'
import { type StoreFlags, withStore } from '../with-store.ts'
import type { AgentFlags } from './release/agent.ts'

const print = (flags: StoreFlags, rows: readonly object[], line: (index: number) => string, empty: string) => {
  if (flags.json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`)
  else if (rows.length === 0) process.stdout.write(`${pc.dim(empty)}\n`)
  else for (let i = 0; i < rows.length; i++) process.stdout.write(`${line(i)}\n`)
}

/** `ratchet runs`: every learning run, newest first. */
export function runsCommand(flags: AgentFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const runs = await store.runs.list({ ...(flags.agent ? { agent: flags.agent } : {}), limit: 100 })
    const ends = flags.json ? [] : await Promise.all(runs.map((run) => endOf(store, run)))
    const line = (i: number) => {
      const run = runs[i]
      if (!run) return ''
      const outcome = run.failure
        ? visible(`${run.failure.code}: ${run.failure.message}`)
        : (run.release ?? ends[i] ?? 'nothing released')
      return `${run.id}  ${minuteOf(run.startedAt)}  ${run.agent}  seed ${run.seed}  ${run.status}  ${pc.dim(outcome)}`
    }
    print(flags, runs, line, 'No runs yet. Start one with: npx ratchet learn')
  })
}

/** What became of a run that learned from traffic; `null` for another, and for one that has not ended. */
async function endOf({ runs }: Pick<Repositories, 'runs'>, { id, status }: Run): Promise<string | null> {
  if (status !== 'completed') return null
  const finished = (await runs.events(id)).findLast(({ type }) => type === 'finished')
  // Few stores hold such runs, and what learns takes long to load.
  const { TrafficSummary } = await import('../../learn/index.ts')
  const { success, data } = TrafficSummary.pick({ outcome: true, reason: true })
    .loose()
    .safeParse(finished?.data['summary'])
  return success ? visible(`${data.outcome}: ${data.reason}`) : null
}

/** `ratchet releases`: every release, newest first, and beside the one that serves its pin and its canary. */
export function releasesCommand(flags: AgentFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const agents = flags.agent === undefined ? await agentNames(store) : [flags.agent]
    const overviews: AgentOverview[] = []
    for (const agent of agents) {
      const overview = await overviewOf(store, agent)
      if (overview) overviews.push(overview)
    }
    const rows = overviews.flatMap(rowsOf)
    const line = (i: number) => {
      const row = rows[i]
      return row ? linesOf(row).join('\n') : ''
    }
    print(flags, rows, line, 'No releases yet. Start a run with: npx ratchet learn')
  })
}

type Row = ReturnType<typeof rowsOf>[number]

function rowsOf({ pin, canary, releases }: AgentOverview) {
  return releases.map(({ release, evidence, serving, activation }) => ({
    ...release,
    serving,
    evidence,
    generation: activation?.generation ?? null,
    pin: serving ? pin : null,
    canary: serving ? canary : null,
  }))
}

function linesOf({ id, createdAt, agent, serving, evidence, generation, run, pin, canary }: Row): readonly string[] {
  const origin = evidence === 'initial' ? 'as it was before learning' : `evidence: ${evidence}${run ? `, ${run}` : ''}`
  const served = generation === null ? 'never served' : `generation ${generation}`
  return [
    `${serving ? pc.green('●') : ' '} ${id}  ${minuteOf(createdAt)}  ${visible(agent)}  ${served}  ${pc.dim(origin)}`,
    ...(pin
      ? [`    ${pc.yellow('pinned')} since ${minuteOf(pin.at)}: ${visible(pin.reason) || 'no reason given'}`]
      : []),
    ...(canary
      ? [
          `    ${pc.cyan('canary')} ${canary.id} gets ${percentOf(canary.share)} of the sessions since ${minuteOf(canary.stepAt)}: ${pc.dim(visible(canary.reason))}`,
        ]
      : []),
  ]
}
