import { z } from 'zod'
import type { Json } from '../core/index.ts'
import { Schedule } from '../learn/index.ts'
import type { FamilyCourse, Steering, UpdatePoint } from './run-report.ts'
import { type EventOf, eventsOf, latest, type StoredEvent } from './stored-events.ts'

/** What a run found, chose and decided, by its events; `null` for one that told nothing of it. */
export function steeringOf(
  events: readonly StoredEvent[],
  updates: readonly UpdatePoint[],
  config: Json,
): Steering | null {
  const sumOf = (name: string) => updates.reduce((sum, { metrics }) => sum + (metrics[name] ?? 0), 0)
  const rounds = updates.flatMap(({ metrics }) => metrics['rounds'] ?? [])
  const steering: Steering = {
    chosen: eventsOf(events, 'started').at(-1)?.chosen ?? null,
    findings: findingsOf(events),
    looks: latest(eventsOf(events, 'looked'), ({ pass }) => pass),
    primeTarget: primeTargetOf(config),
    returns: latest(eventsOf(events, 'recovered'), ({ update }) => update),
    sampledOn: { updates: rounds.filter((n) => n > 1).length, of: rounds.length },
    explored: sumOf('explored'),
    forced: { attempts: sumOf('forced'), won: sumOf('forcedWon') },
    stopped: eventsOf(events, 'stopped').at(-1) ?? null,
    enough: eventsOf(events, 'enough').at(-1) ?? null,
    families: familyCourses(latest(eventsOf(events, 'families'), ({ update }) => update)),
  }
  const { chosen, findings, looks, returns, stopped, families } = steering
  const told = chosen ?? stopped ?? [...findings, ...looks, ...returns, ...rounds, ...families][0]
  return told === undefined || told === null ? null : steering
}

/** What stops a job first. */
function findingsOf(events: readonly StoredEvent[]): Steering['findings'] {
  const found = latest(eventsOf(events, 'found'), ({ code, message }) => JSON.stringify([code, message]))
  return found
    .map(({ severity, code, message, hint }) => ({ code, message, hint, stops: severity === 'stop' }))
    .toSorted((a, b) => Number(b.stops) - Number(a.stops))
}

/** What `ratchet learn` keeps of the schedule; a program of one's own keeps what it likes. */
const Kept = z.object({ learn: z.object({ schedule: Schedule }) })

function primeTargetOf(config: Json): Steering['primeTarget'] {
  const kept = Kept.safeParse(config)
  if (!kept.success) return null
  const { primeSuccess, primeInformative, primePassesAtMost } = kept.data.learn.schedule
  return { success: primeSuccess, informative: primeInformative, passes: primePassesAtMost }
}

/** Above every rate: families without attempts come last. */
const unknown = 2

function familyCourses(tellings: readonly EventOf<'families'>[]): readonly FamilyCourse[] {
  const courses = new Map<string, FamilyCourse>()
  for (const { update, families } of tellings) {
    for (const { family, rate, tasks, dead } of families) {
      const rates = [...(courses.get(family)?.rates ?? []), { update, rate }]
      courses.set(family, { family, tasks, dead, rates })
    }
  }
  const last = ({ rates }: FamilyCourse) => rates.at(-1)?.rate ?? unknown
  return [...courses.values()].toSorted(
    (a, b) =>
      Number(b.dead) - Number(a.dead) || last(a) - last(b) || b.tasks - a.tasks || (a.family < b.family ? -1 : 1),
  )
}
