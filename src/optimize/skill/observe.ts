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

/**
 * Sessions of one person that count for or against a skill that others have too, with it on offer and without: fewer than a
 * comparison needs, so that nobody alone bars what many use. Those of practice all count.
 */
const mostOfPerson = 3

/** How many sessions of each person counted in a run, by the skill and the side. */
export type Heard = Map<string, number>

function countsMore({ origin, source }: SkillExperience, skill: Skill, offered: boolean, heard: Heard): boolean {
  if (origin !== 'traffic' || skill.owner.about !== null) return true
  const key = JSON.stringify([skill.id, offered, source])
  const before = heard.get(key) ?? 0
  heard.set(key, before + 1)
  return before < mostOfPerson
}

/** Counts what came of skills in one episode, and of trials of those that rules bar. @returns what it says of each. */
export async function observed(
  experience: SkillExperience,
  { signal, example }: CameTo,
  { shelf, likeness, heard }: { readonly shelf: Shelf; readonly likeness: Likeness; readonly heard: Heard },
): Promise<readonly Observation[]> {
  const { cue, skills, bare, uses, derivedFrom } = experience
  const near = await likeness.to(
    cue,
    shelf.rules.flatMap(({ scope }) => textsOfScope(scope)),
  )
  const observations: Observation[] = []
  for (const { id, offered, barred } of skills) {
    const skill = shelf.get(id)
    if (!skill || !countsMore(experience, skill, offered, heard)) continue
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
