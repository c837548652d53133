import type { z } from 'zod'
import { parseInput, type Signal, type Trajectory } from '../../core/index.ts'
import { behaviourName, implicitPays, signal } from '../evidence/index.ts'
import { TrafficRubricConfig } from './traffic-rubric.ts'

/** What each signal that spoke of a session pays, in units of the reward, by its name. */
export type SignalPays = (
  trajectory: Trajectory,
  signals: readonly Signal[],
  asOf: number,
) => Promise<Readonly<Record<string, number>>>

/**
 * Reads what the rubric of a configuration pays for each signal alone, from -1 to 1: what was told by its name; and behaviour,
 * which pays only where nothing was told, as `implicit/KIND`. Those that said nothing are left out.
 * @param trusted keys whose names are people, as for `trafficRubric`.
 * @throws InputError for a configuration that is none.
 */
export function signalPays(
  config: z.input<typeof TrafficRubricConfig>,
  { trusted = [] }: { readonly trusted?: readonly string[] } = {},
): SignalPays {
  const { signals: readings, implicit: behaviour } = parseInput(TrafficRubricConfig, config, 'The rubric')
  const told = Object.entries(readings).map(([name, reading]) => [name, signal(name, reading, trusted)] as const)
  const guessed = behaviour === false ? null : implicitPays(behaviour)
  return async (trajectory, signals, asOf) => {
    const paid: Record<string, number> = {}
    for (const [name, part] of told) {
      const score = await part.score(trajectory, signals, asOf)
      if (score !== null) paid[name] = within(score)
    }
    if (Object.keys(paid).length > 0) return paid
    for (const [kind, worth] of guessed?.pays(trajectory, asOf) ?? []) {
      paid[behaviourName(kind)] = within(worth * (guessed?.weight ?? 1))
    }
    return paid
  }
}

/** A session earns no more than all, and no less than nothing. */
const within = (pay: number): number => Math.min(1, Math.max(-1, pay))
