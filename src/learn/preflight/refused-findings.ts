import { counted, type Finding, gravity } from './finding.ts'
import type { PlayedDemonstration } from './played-demonstration.ts'

/** The bound of an episode that refused calls meet. */
export interface RefusalBound {
  /** The refused call at which an episode ends. */
  readonly toolErrors: number
  /** What it is raised to; `null` where somebody gave it. */
  readonly raised: number | null
}

/** Demonstrations in which tools refuse so many calls that an attempt which does the same is ended. Pure. */
export function refusedFindings(
  played: readonly PlayedDemonstration[],
  { toolErrors, raised }: RefusalBound,
): readonly Finding[] {
  const ended = played.filter(({ refusedCalls }) => refusedCalls >= toolErrors)
  const [most] = ended.toSorted((a, b) => b.refusedCalls - a.refusedCalls)
  if (most === undefined) return []
  const make = counted(ended.length, played.length, 'replayed demonstration', ['makes', 'make'])
  const example = `demonstration ${most.number} makes ${most.refusedCalls}`
  const now = raised === null ? '' : ` An attempt ends at refused call ${raised} now.`
  return [
    {
      severity: raised === null ? gravity(ended.length, played.length) : 'warn',
      code: 'learn/refused-calls',
      message: `${make} ${toolErrors} or more calls that the tools refuse, and an attempt ends at refused call ${toolErrors}. For example, ${example}.${now}`,
      hint:
        raised === null
          ? 'Raise episode.toolErrors (in a program budget.toolErrors), or leave it out: then the demonstrations decide.'
          : 'If an agent should not make such calls, leave these demonstrations out. episode.toolErrors (in a program budget.toolErrors) fixes the bound.',
      n: ended.length,
      of: played.length,
      example,
    },
  ]
}
