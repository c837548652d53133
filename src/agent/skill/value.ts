import { z } from 'zod'
import { readOnce } from '../read-once.ts'
import { mostRules, NegativeRule } from './rule.ts'
import { Skill, skillBounds, SkillCounts } from './skill.ts'

const Shape = z.strictObject({
  /** Skills offered in one episode, at most. */
  offer: z.int().min(1).max(32),
  /** Cosine below which a skill does not fit a task. */
  floor: z.number().min(-1).max(1),
  /** The chance that an episode is offered no skill at all, and half of it, that one skill is left out: what they bring shows by that. */
  explore: z.number().min(0).max(0.5),
  /** The chance that a skill which a rule bars is offered in spite of it: whether the rule holds shows by that. */
  retry: z.number().min(0).max(0.5),
  /** Tools that one run may call, and steps that it may take. */
  calls: z.int().min(1).max(256),
  steps: z.int().min(10_000).max(1_000_000_000),
  skills: z.array(Skill).max(skillBounds.skills),
  /** What came of each skill, by its id. */
  counts: z.record(z.string(), SkillCounts),
  rules: z.array(NegativeRule).max(mostRules),
})
/** The value of a `skill` Parameter. */
export type SkillsValue = z.infer<typeof Shape>

const Bounded = Shape.superRefine(({ skills }, context) => {
  const issue = (message: string) => context.addIssue({ code: 'custom', path: ['skills'], message })
  const bytes = Buffer.byteLength(JSON.stringify(skills))
  if (bytes > skillBounds.bytes) issue(`${bytes} bytes of skills; at most ${skillBounds.bytes}`)
  if (new Set(skills.map(({ id }) => id)).size < skills.length) issue('two skills are the same')
  const names = skills.map(({ name, owner, model }) => JSON.stringify([name, owner.tenant, owner.about, model]))
  if (new Set(names).size < names.length) issue('two skills that reach the same have one name')
})

/** Reads a value; one that was read before is given again as it was. */
export const SkillsValue: z.ZodType<SkillsValue> = readOnce(Bounded)
