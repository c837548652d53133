import { z } from 'zod'

/** What attempts at a family of tasks came to, recent ones weighing most. */
export const Tally = z.strictObject({ attempts: z.number().nonnegative(), successes: z.number().nonnegative() })
export type Tally = Readonly<z.infer<typeof Tally>>

/** Every family's tally, by its name. */
export const Standing = z.record(z.string(), Tally)
export type Standing = Readonly<Record<string, Tally>>

/** What a new batch leaves of a family's earlier attempts. */
const kept = 0.6
/** So many attempts, and hardly a success among them, make a family dead. */
const enough = 10
const hardly = 0.04

/** One attempt at a task of a family, and whether it succeeded. */
export interface Attempted {
  readonly task: string
  readonly family: string
  readonly success: boolean
}

/** Adds a batch. Families that it does not touch stay as they were. */
export function recorded(standing: Standing, batch: readonly Attempted[]): Standing {
  const fresh = new Map<string, { attempts: number; successes: number }>()
  for (const { family, success } of batch) {
    const tally = fresh.get(family) ?? { attempts: 0, successes: 0 }
    fresh.set(family, { attempts: tally.attempts + 1, successes: tally.successes + (success ? 1 : 0) })
  }
  const touched = [...fresh].map(([family, { attempts, successes }]) => {
    const before = tallyOf(standing, family) ?? untried
    return [family, { attempts: before.attempts * kept + attempts, successes: before.successes * kept + successes }]
  })
  return Object.fromEntries([...Object.entries(standing), ...touched])
}

const untried: Tally = { attempts: 0, successes: 0 }

/** A family's tally, `undefined` before any attempt. A family may be called `constructor`, which every object inherits. */
export const tallyOf = (standing: Standing, family: string): Tally | undefined =>
  Object.hasOwn(standing, family) ? standing[family] : undefined

/** The estimated rate of success of a family, in (0, 1): Laplace's, so that one that was never tried is at a half. */
export function rateOf(standing: Standing, family: string): number {
  const { attempts, successes } = tallyOf(standing, family) ?? untried
  return (successes + 0.5) / (attempts + 1)
}

/** Whether nothing succeeds on a family: its groups are uniform, and no group baseline brings it back. */
export function isDead(standing: Standing, family: string): boolean {
  const tally = tallyOf(standing, family)
  return tally !== undefined && tally.attempts >= enough && tally.successes < hardly * tally.attempts
}

/** The families on which nothing succeeds. */
export const deadFamilies = (standing: Standing): readonly string[] =>
  Object.keys(standing)
    .filter((family) => isDead(standing, family))
    .toSorted()

/** So little succeeds on a failing family that attempts as usual hardly ever show how it is done. */
const failing = 0.1

/** The families on which next to nothing succeeds, dead ones among them. */
export const failingFamilies = (standing: Standing): readonly string[] =>
  Object.entries(standing)
    .flatMap(([family, { attempts, successes }]) => (attempts > 0 && successes <= failing * attempts ? [family] : []))
    .toSorted()

/** The rate of success over all training tasks, each family weighing as many tasks as it has. */
export function overallRate(standing: Standing, sizes: ReadonlyMap<string, number>): number {
  let [sum, total] = [0, 0]
  for (const [family, size] of sizes) {
    const tally = tallyOf(standing, family)
    if (tally === undefined || tally.attempts === 0) continue
    sum += (size * tally.successes) / tally.attempts
    total += size
  }
  return total === 0 ? 0 : sum / total
}
