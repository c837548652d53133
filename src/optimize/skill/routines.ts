import type { Json } from '../../core/index.ts'
import type { Trace } from './traces.ts'

/** A call that worked. */
export interface GoodCall {
  readonly name: string
  readonly arguments: Record<string, Json>
  readonly content: string
}

/** A routine as one episode went through it. */
export interface Instance {
  readonly calls: readonly GoodCall[]
  /** What the task said, and what was answered before the routine began. */
  readonly cue: string
  readonly before: readonly string[]
  readonly derivedFrom: readonly string[]
}

/** Calls of the same tools in the same order, in episodes that worked. */
export interface Routine {
  readonly names: readonly string[]
  /** Different tasks that were solved by way of it. */
  readonly support: number
  /** One of each task, the newest first, and no more than are looked at. */
  readonly instances: readonly Instance[]
}

const longest = 12
/** Instances that are generalised from. */
export const mostInstances = 8

/**
 * Runs of calls in a row that the solutions of several tasks share, those that spare the most calls first. What is part of a
 * better one is left out, unless twice as many tasks have it. What one run of a skill called is no evidence for another skill.
 * @param traces of one owner, the newest first.
 * @param fewest tasks of a routine.
 */
export function routinesIn(traces: readonly Trace[], fewest: number): readonly Routine[] {
  const byNames = new Map<string, { readonly names: readonly string[]; readonly of: Map<string, Instance> }>()
  for (const trace of traces) {
    for (const { names, instance } of runsIn(trace)) {
      const key = JSON.stringify(names)
      const known = byNames.get(key) ?? { names, of: new Map<string, Instance>() }
      if (!known.of.has(trace.source)) known.of.set(trace.source, instance())
      byNames.set(key, known)
    }
  }
  const routines = [...byNames.values()]
    .filter(({ of }) => of.size >= fewest)
    .map(({ names, of }) => ({ names, support: of.size, instances: [...of.values()].slice(0, mostInstances) }))
    .toSorted((a, b) => spares(b) - spares(a) || b.names.length - a.names.length || (keyOf(a) < keyOf(b) ? -1 : 1))
  const kept: Routine[] = []
  for (const routine of routines) if (!kept.some((better) => covers(better, routine))) kept.push(routine)
  return kept
}

const spares = ({ names, support }: Routine) => (names.length - 1) * support
const keyOf = ({ names }: Routine) => JSON.stringify(names)

/** Whether a routine makes a part of it needless. */
export const covers = (whole: Pick<Routine, 'names' | 'support'>, part: Pick<Routine, 'names' | 'support'>): boolean =>
  part.support < 2 * whole.support && isWithin(part.names, whole.names)

const isWithin = (part: readonly string[], whole: readonly string[]) =>
  whole.some((_, i) => part.every((name, j) => whole[i + j] === name))

function* runsIn({ calls, cue, derivedFrom }: Trace) {
  for (const start of calls.keys()) {
    const good: GoodCall[] = []
    let run = calls[start]?.run ?? null
    for (const { name, arguments: given, content, isError, run: by } of calls.slice(start, start + longest)) {
      if (isError || given === null || content === null) break
      good.push({ name, arguments: given, content })
      if (by !== run) run = null
      if (good.length < 2 || run !== null) continue
      const upTo = [...good]
      const instance = (): Instance => ({
        calls: upTo,
        cue,
        before: calls.slice(0, start).flatMap((call) => call.content ?? []),
        derivedFrom,
      })
      yield { names: upTo.map((call) => call.name), instance }
    }
  }
}
