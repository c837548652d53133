import { z } from 'zod'
import { type MemoryArchive, type MemoryKind, MemoryValue } from '../../agent/index.ts'
import {
  type Embedder,
  Json,
  type Learning,
  type Optimizer,
  parseInput,
  type SavedLearning,
  type Seat,
} from '../../core/index.ts'
import { Collection } from './collection.ts'
import { outcomesOf } from './outcomes.ts'
import type { MemoryPart, PartContext } from './part.ts'

/** How a memory learns. */
export interface MemoryLearning extends Pick<PartContext, 'share' | 'forgetAfter'> {
  readonly name: string
  readonly parts: readonly MemoryPart[]
  /** While it learns: the chance that an item is left out of an attempt, and that an attempt recalls nothing. */
  readonly acting: { readonly explore: number; readonly withhold: number | undefined }
  readonly embedder: Embedder
  readonly archives: readonly MemoryArchive[]
}

const Saved = z.object({ value: MemoryValue, parts: z.array(Json), tried: z.array(z.string()).default([]) })

/** An Optimizer of parts that work on one memory, one after the other. */
export function memoryOptimizer(options: MemoryLearning): Optimizer<MemoryKind> {
  return { name: options.name, kind: 'memory', open: (seat, saved) => Promise.resolve(session(options, seat, saved)) }
}

function session(
  { parts, acting, embedder, archives, share, forgetAfter }: MemoryLearning,
  seat: Seat<MemoryValue>,
  saved: SavedLearning | null,
): Learning<MemoryKind> {
  const resumed = saved ? parseInput(Saved, saved.state, `the state of the memory "${seat.parameter}"`) : null
  const collection = new Collection(resumed?.value ?? seat.value, embedder, archives, resumed?.tried)
  const open = parts.map((part, i) => part.open(resumed?.parts[i] ?? null))
  let changed = resumed !== null
  return {
    bound: () => Promise.resolve(collection.value(acting)),
    propose: () => Promise.resolve(changed ? collection.value() : null),
    save: () => {
      const states = open.map((part) => part.save())
      return Promise.resolve({ state: { value: collection.value(), parts: states, tried: [...collection.tried] } })
    },
    async step(deposits, update) {
      const outcomes = outcomesOf(deposits)
      const at = outcomes.reduce((latest, { experience }) => Math.max(latest, experience.at), 0)
      const own = new Map(collection.items.map((item) => [item.id, item]))
      const before = { get: (id: string) => own.get(id) ?? collection.archived(id) }
      const metrics: Record<string, number> = {}
      for (const [i, part] of open.entries()) {
        const rng = seat.rng('memory', parts[i]?.name ?? i, update)
        Object.assign(metrics, await part.step({ collection, before, outcomes, share, forgetAfter, at, rng }))
      }
      changed ||= outcomes.length > 0
      const recalled = outcomes.filter(({ experience }) => experience.recalled.some(({ shown }) => shown))
      return { ...metrics, items: collection.items.length, recalled: recalled.length, asked: outcomes.length }
    },
  }
}
