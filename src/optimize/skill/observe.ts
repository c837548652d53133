import { z } from 'zod'
import {
  type CameTo,
  inScope,
  type Likeness,
  type NegativeRule,
  Skill,
  skillBounds,
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

/** Episodes of each side that one person's say counts in, for a skill that others share: less than a comparison needs. */
const mostOfPerson = 2

/**
 * Whether a person has said their share of a skill that others share: what one person thinks must not bar it for all.
 * @param person what stands for them; `null`: the episode was nobody's.
 */
function hasSaid(person: string | null, skill: Skill, offered: boolean, before: readonly Observation[]): boolean {
  if (person === null || skill.owner.about !== null) return false
  const own = before.filter(
    (one) => one.skill === skill.id && one.offered === offered && one.derivedFrom.includes(person),
  )
  return own.length >= mostOfPerson
}

/** A trial of a barred skill, in its rule; a person's counts once where others share the skill. */
function withTrial(rule: NegativeRule, { owner }: Skill, signal: number, person: string | null): NegativeRule {
  const seen = withOne(rule.seen, signal)
  if (person === null || owner.about !== null) return { ...rule, seen }
  if (rule.derivedFrom.includes(person) || rule.derivedFrom.length >= skillBounds.lineage) return rule
  return { ...rule, seen, derivedFrom: [...rule.derivedFrom, person] }
}

/**
 * Counts what came of skills in one episode, and of trials of those that rules bar.
 * @param before what was observed until then.
 * @returns what it says of each.
 */
export async function observed(
  { cue, skills, bare, uses, derivedFrom, owner }: SkillExperience,
  { signal, example }: CameTo,
  {
    shelf,
    likeness,
    before,
  }: {
    readonly shelf: Shelf
    readonly likeness: Likeness
    readonly before: readonly Observation[]
  },
): Promise<readonly Observation[]> {
  const near = await likeness.to(
    cue,
    shelf.rules.flatMap(({ scope }) => textsOfScope(scope)),
  )
  const observations: Observation[] = []
  for (const { id, offered, barred } of skills) {
    const skill = shelf.get(id)
    if (!skill) continue
    const own = uses.filter((use) => use.id === id)
    if (barred) {
      if (own.length > 0) {
        shelf.rules = shelf.rules.map((rule) =>
          rule.skill === id && inScope(rule.scope, near) ? withTrial(rule, skill, signal, owner.about) : rule,
        )
      }
      continue
    }
    if (hasSaid(owner.about, skill, offered, before)) continue
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
