import { z } from 'zod'
import { Moments } from './moments.ts'
import { cueOf, skillBounds } from './skill.ts'

/** Rules of one value, at most. */
export const mostRules = 256

/** Cosine from which a task is like the one that a rule's scope names. */
const alike = 0.5

/**
 * That a learned skill is not offered. It is a hypothesis: it says where it holds, what would prove it wrong, and when it ends,
 * so that a failure that passes does not become a ban that stands.
 */
export const NegativeRule = z.strictObject({
  /** The skill's id, and its name for people. The skill may be gone: then the rule keeps it from being learned again. */
  skill: z.string(),
  name: z.string(),
  /** Tasks that are like this one; `null`: every task. */
  scope: z.string().max(skillBounds.cueBytes).nullable(),
  because: z.enum(['harm', 'rent', 'unused']),
  /** It is lifted once so many trials in its scope came, on average, to at least so much: see `seen`. */
  falsifier: z.strictObject({ trials: z.int().positive(), atLeast: z.number() }),
  /** Trials so far: episodes in its scope in which chance offered the skill in spite of it. */
  seen: Moments,
  /** When it was made and when it ends, in milliseconds since the epoch. */
  from: z.number(),
  expires: z.number(),
  /** What it was learned from: erasing any of these erases it. */
  derivedFrom: z.array(z.string().min(1)).max(skillBounds.lineage),
})
export type NegativeRule = z.infer<typeof NegativeRule>

/** Whether a task is in the scope of a rule. @param similarity of the task to a text, a cosine. */
export const inScope = ({ scope }: Pick<NegativeRule, 'scope'>, similarity: (text: string) => number): boolean =>
  scope === null || similarity(scope) >= alike

/** The rule that bars a skill from a task at a moment, if one does. */
export const ruleAgainst = (
  rules: readonly NegativeRule[],
  skill: string,
  at: number,
  similarity: (text: string) => number,
): NegativeRule | undefined =>
  rules.find((rule) => rule.skill === skill && at < rule.expires && inScope(rule, similarity))

/** The scope of tasks that are like one. */
export const scopeLike = cueOf
