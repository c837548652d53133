import { z } from 'zod'
import {
  type CameTo,
  inScope,
  type Likeness,
  Skill,
  type SkillExperience,
  textsOfScope,
  withOne,
} from '../../agent/index.ts'
import type { Shelf } from './shelf.ts'

/** One episode, as it says something of one skill that it could be offered. */
export const Observation = z.strictObject({
  skill: z.string(),
  cue: z.string(),
  offered: z.boolean(),
  /** Whether no skill at all was. */
  bare: z.boolean(),
  called: z.boolean(),
  signal: z.number(),
  derivedFrom: Skill.shape.derivedFrom,
})
export type Observation = z.infer<typeof Observation>

/** Counts what came of skills in one episode, and of trials of those that rules bar. @returns what it says of each. */
export async function observed(
  { cue, skills, bare, uses, derivedFrom }: SkillExperience,
  { signal, example }: CameTo,
  shelf: Shelf,
  likeness: Likeness,
): Promise<readonly Observation[]> {
  const near = await likeness.to(
    cue,
    shelf.rules.flatMap(({ scope }) => textsOfScope(scope)),
  )
  const observations: Observation[] = []
  for (const { id, offered, barred } of skills) {
    if (!shelf.get(id)) continue
    const own = uses.filter((use) => use.id === id)
    if (barred) {
      if (own.length > 0) {
        shelf.rules = shelf.rules.map((rule) =>
          rule.skill === id && inScope(rule.scope, near) ? { ...rule, seen: withOne(rule.seen, signal) } : rule,
        )
      }
      continue
    }
    const counts = shelf.countsOf(id)
    const helps = own.length > 0 && own.every(({ error }) => error === null) && example === 'worked'
    shelf.count(id, {
      offered: offered ? withOne(counts.offered, signal) : counts.offered,
      leftOut: offered ? counts.leftOut : withOne(counts.leftOut, signal),
      called: own.length > 0 ? withOne(counts.called, signal) : counts.called,
      helped: counts.helped + Number(helps),
    })
    observations.push({ skill: id, cue, offered, bare, called: own.length > 0, signal, derivedFrom: [...derivedFrom] })
  }
  return observations
}
