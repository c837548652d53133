export { checkSkill, defaultLimits } from './check-skill.ts'
export { noRoom, SkillError } from './errors.ts'
export type { SkillExperience, SkillUse } from './experience.ts'
export { type FittingSkill, SeenCall, SkillMade } from './made.ts'
export { Moments, noMoments, varianceOfMean, withOne } from './moments.ts'
export { Likeness } from './likeness.ts'
export { inScope, mostRules, NegativeRule, textsOfScope } from './rule.ts'
export {
  cueOf,
  newSkill,
  type NewSkill,
  noCounts,
  Skill,
  skillBounds,
  SkillCounts,
  SkillTest,
  TakenValue,
  type ToolAnswer,
  toolOf,
} from './skill.ts'
export {
  reservedNames,
  type SkillGiven,
  type SkillKind,
  skillKind,
  skillOf,
  skills,
  type SkillsOptions,
} from './skill-kind.ts'
export { SkillsParameter } from './skill-parameter.ts'
export { SkillsValue } from './value.ts'
