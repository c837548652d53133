import { z } from 'zod'
import type { textKind } from '../../agent/index.ts'
import { type Learning, parseInput, type SavedLearning, type Seat } from '../../core/index.ts'
import { exemplarsIn, withExemplars } from './exemplar-block.ts'
import { ExemplarPool, SavedPool } from './exemplar-pool.ts'
import type { CompleteExemplars } from './exemplars-options.ts'
import { Refusals, refusalOf } from './refusal.ts'
import { onePerEpisode, type Shown } from './shown.ts'

const Saved = z.strictObject({ pool: SavedPool, refusals: z.record(z.string(), z.number()) })

/**
 * Exemplars from sessions that went well, where nothing can be attempted: the best of them, then those that serve already.
 */
export function collectExemplars(
  { value, leaks }: Seat<{ readonly text: string }>,
  saved: SavedLearning | null,
  options: CompleteExemplars,
): Learning<typeof textKind> {
  const { count, maxBytes } = options
  const { prefix, exemplars: serving } = exemplarsIn(value.text)
  const { pool: known, refusals: counts } = saved
    ? parseInput(Saved, saved.state, 'the state of exemplars()')
    : { pool: [], refusals: {} }
  const refusals = new Refusals(counts)
  const bounds = { served: value.text, leaks, maxBytes }
  const pool = new ExemplarPool({ ...options, ...bounds, most: 16 * count, except: new Set<string>(), refusals }, known)

  const chosen = (): string => {
    const set: Shown[] = []
    for (const one of [...pool.exemplars, ...serving]) {
      if (set.length === count) break
      if (set.some(({ asked }) => asked === one.asked)) continue
      const more = [...set, { asked: one.asked, answered: one.answered }]
      if (refusalOf(withExemplars(prefix, more), bounds) === null) set.push(more[more.length - 1] ?? one)
    }
    return withExemplars(prefix, set)
  }
  return {
    bound: async () => value,
    async step(deposits) {
      pool.addEpisodes(onePerEpisode(deposits))
      return { pool: pool.exemplars.length, ...refusals.told() }
    },
    save: async () => ({ state: { pool: [...pool.exemplars], refusals: refusals.counts } }),
    async propose() {
      const text = chosen()
      return pool.exemplars.length === 0 || text === value.text ? null : { text }
    },
  }
}
