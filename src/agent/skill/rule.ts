import { z } from 'zod'
import { Moments } from './moments.ts'
import { skillBounds } from './skill.ts'

/** Rules of one value, at most. */
export const mostRules = 256

const texts = z.array(z.string().max(skillBounds.cueBytes)).max(skillBounds.cues)

/**
 * That a learned skill is not offered. It is a hypothesis: it says where it holds, what would prove it wrong, and when it ends,
 * so that a failure that passes does not become a ban that stands.
 */
export const NegativeRule = z.strictObject({
  /** The skill's id, and its name for people. The skill may be gone: then the rule keeps it from being learned again. */
  skill: z.string(),
  name: z.string(),
  /** Tasks that are nearer to some than to others, as they were said; `null`: every task. */
  scope: z.strictObject({ like: texts.min(1), unlike: texts }).nullable(),
  because: z.enum(['harm', 'rent', 'unused']),
  /** It is lifted once so many trials came, on average, to at least so much: see `seen`. */
  falsifier: z.strictObject({ trials: z.int().positive(), atLeast: z.number() }),
  /** Trials so far: episodes in its scope in which chance offered the skill in spite of it, and that called it. */
  seen: Moments,
  /** When it was made and when it ends, in milliseconds since the epoch. */
  from: z.number(),
  expires: z.number(),
  /** What it was learned from: erasing any of these erases it. */
  derivedFrom: z.array(z.string().min(1)).max(skillBounds.lineage),
})
export type NegativeRule = z.infer<typeof NegativeRule>

/** How near a task is to some texts together: the cosine to their mean. */
export type Near = (texts: readonly string[]) => number

/** Whether a task is in a scope. */
export const inScope = (scope: NegativeRule['scope'], near: Near): boolean =>
  scope === null || near(scope.like) > near(scope.unlike)

/** All texts that a scope compares a task with. */
export const textsOfScope = (scope: NegativeRule['scope']): readonly string[] =>
  scope === null ? [] : [...scope.like, ...scope.unlike]

/** Whether a rule bars a skill from a task at a moment. */
export const isBarred = (rules: readonly NegativeRule[], skill: string, at: number, near: Near): boolean =>
  rules.some((rule) => rule.skill === skill && at < rule.expires && inScope(rule.scope, near))
