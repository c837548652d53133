import { z } from 'zod'
import type { textKind } from '../../agent/index.ts'
import { type Learning, parseInput, type SavedLearning, type Seat } from '../../core/index.ts'
import type { Components } from './component.ts'
import { lessonsOfEpisodes } from './material.ts'
import type { CompleteReflect } from './reflect-options.ts'
import { reflectionOn } from './reflect-prompt.ts'
import { Refusals } from './refusal.ts'
import { rewritten } from './rewritten.ts'
import { onePerEpisode } from './shown.ts'
import { Writer } from './writer.ts'

const Saved = z.strictObject({
  proposed: z.string().nullable(),
  answered: z.int().nonnegative(),
  refusals: z.record(z.string(), z.number()),
})

/** Sessions that a writer reads at once, at most. */
const mostLessons = 24

/** A writer's proposal from sessions, where nothing can be attempted: the last one that may serve. */
export function reflectOnSessions(
  seat: Seat<{ readonly text: string }>,
  saved: SavedLearning | null,
  { options, components }: { readonly options: CompleteReflect; readonly components: Components },
): Learning<typeof textKind> {
  const { value, leaks } = seat
  const state = saved ? parseInput(Saved, saved.state, 'the state of reflect()') : null
  const refusals = new Refusals(state?.refusals)
  const writer = new Writer(options.writer, options.maxTokens, state?.answered)
  const bounds = { served: value.text, leaks, maxBytes: options.maxBytes }
  let proposed = state?.proposed ?? null
  return {
    bound: async () => value,
    async step(deposits, update) {
      const lessons = lessonsOfEpisodes(onePerEpisode(deposits), { ...options, most: mostLessons })
      if (lessons.length === 0) return { lessons: 0 }
      const part = seat.rng('part', update).int(components.count)
      const answer = await writer.write(reflectionOn(components.part(value.text, part), value.text, lessons))
      const made = rewritten(answer, { components, parent: value.text, part, bounds, knows: () => false })
      if ('refusal' in made) refusals.add(made.refusal)
      else proposed = made.text
      return { lessons: lessons.length, ...refusals.told() }
    },
    save: async () => ({ state: { proposed, answered: writer.answered, refusals: refusals.counts } }),
    propose: async () => (proposed === null ? null : { text: proposed }),
  }
}
