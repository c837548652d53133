import { z } from 'zod'
import { JsonObject, sha256, Tenant, ToolDefinition } from '../../core/index.ts'
import { clipped } from '../memory/clipped.ts'
import { Moments, noMoments } from './moments.ts'

/** Bounds that no skill passes. Bytes are those of UTF-8. */
export const skillBounds = {
  sourceBytes: 16_384,
  descriptionBytes: 1_024,
  parametersBytes: 4_096,
  /** Tools that one skill uses. */
  uses: 16,
  tests: 8,
  /** Values that it says it takes over from answers. */
  takes: 64,
  /** Text in one argument of a learned skill's call that neither its input, nor the task, nor its code holds. */
  takenBytes: 1_024,
  /** One test as JSON. */
  testBytes: 65_536,
  cues: 8,
  cueBytes: 512,
  /** Trajectories and persons that one skill may come from. */
  lineage: 512,
  skills: 256,
  /** All skills together, as JSON. */
  bytes: 16 * 1_024 * 1_024,
  /** What one run gives back. */
  outputBytes: 16_384,
} as const

const boundedText = (most: number) =>
  z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= most, { error: `more than ${most} bytes`, abort: true })

/** What a tool answered. */
export const ToolAnswer = z.strictObject({ content: z.string(), isError: z.boolean() })
export type ToolAnswer = z.infer<typeof ToolAnswer>

/** A call that a skill is expected to make, and what it is answered. */
export const ExpectedCall = z.strictObject({ name: z.string(), arguments: JsonObject, answer: ToolAnswer })
export type ExpectedCall = z.infer<typeof ExpectedCall>

/** What a skill must do, given what tools answer: exactly these calls, in this order. */
export const SkillTest = z
  .strictObject({
    input: JsonObject,
    /** What the task said. */
    task: z.string(),
    calls: z.array(ExpectedCall).max(64),
    /** What it gives back; `null`: anything. */
    output: z.string().nullable(),
  })
  .refine((test) => Buffer.byteLength(JSON.stringify(test)) <= skillBounds.testBytes, {
    error: `more than ${skillBounds.testBytes} bytes`,
  })
export type SkillTest = z.infer<typeof SkillTest>

/** A value of a call that a skill takes over from what an earlier call was answered. */
export const TakenValue = z.strictObject({
  /** The call that gets it and the one that was answered, by their places among the skill's calls. */
  call: z.int().nonnegative(),
  from: z.int().nonnegative(),
  /** Where it stands in the arguments. */
  path: z.array(z.union([z.string(), z.int().nonnegative()])).max(16),
  type: z.enum(['string', 'number', 'boolean']),
  /** Bytes that it may have as text. */
  most: z.int().positive().max(4_096),
})
export type TakenValue = z.infer<typeof TakenValue>

/** One skill: a tool made of others. */
export const Skill = z.strictObject({
  /** Of its code, its parameters and its owner. */
  id: z.string().regex(/^[0-9a-f]{16}$/),
  name: ToolDefinition.shape.name,
  description: boundedText(skillBounds.descriptionBytes),
  /** JSON Schema of its arguments: an object with `properties` and `required`. */
  parameters: JsonObject.refine((schema) => Buffer.byteLength(JSON.stringify(schema)) <= skillBounds.parametersBytes, {
    error: `more than ${skillBounds.parametersBytes} bytes`,
  }),
  /**
   * JavaScript that defines `run(input, call, task)`. `call(name, arguments)` calls a tool of the episode and gives what it
   * answered, as text; where that is an error, it throws. `task` is what was asked. What `run` gives back is the answer.
   */
  source: boundedText(skillBounds.sourceBytes),
  /** Tools that it may call. It is offered only where all of them are. */
  uses: z.array(ToolDefinition.shape.name).max(skillBounds.uses),
  /** What it takes over from answers of tools; anything else than these say ends its run. Default: nothing is said. */
  takes: z.array(TakenValue).max(skillBounds.takes).default([]),
  tests: z.array(SkillTest).max(skillBounds.tests),
  /** What people made is never changed, barred or removed by learning. */
  madeBy: z.enum(['people', 'learned']),
  /** What it is for, as tasks say it: it is found by these and its description. A skill of people without any is for every task. */
  cues: z.array(boundedText(skillBounds.cueBytes)).max(skillBounds.cues),
  /**
   * Everything that it was made from: ids of trajectories, and what stands for the persons that these were about
   * (`subjectMark`). Erasing any of them erases the skill.
   */
  derivedFrom: z.array(z.string().min(1)).max(skillBounds.lineage),
  /** Whose data it is: it reaches nobody else. */
  owner: z.strictObject({ tenant: Tenant.nullable(), about: z.string().nullable() }),
  /** The model that it was learned with, as `skills({ model })` names it: it is offered to no other. `null`: to any. */
  model: z.string().nullable(),
  /** Tokens of its definition in a prompt (an estimate). */
  rent: z.int().nonnegative(),
})
export type Skill = z.infer<typeof Skill>

/** What a skill begins with. */
export type NewSkill = Omit<Skill, 'id' | 'rent' | 'takes'> & Partial<Pick<Skill, 'takes'>>

/** Of English text, about. */
const charactersPerToken = 4

/**
 * Makes a skill. Equal code with equal parameters for one owner is one skill.
 * @throws ZodError for what {@link Skill} refuses.
 */
export function newSkill(skill: NewSkill): Skill {
  const { parameters, source, owner } = skill
  return Skill.parse({
    ...skill,
    id: sha256(JSON.stringify([parameters, source, owner.tenant, owner.about])).slice(0, 16),
    rent: Math.ceil(JSON.stringify(toolOf(skill)).length / charactersPerToken),
  })
}

/** The skill as the policy sees it. */
export const toolOf = ({ name, description, parameters }: Pick<Skill, keyof ToolDefinition>): ToolDefinition => ({
  name,
  description,
  parameters,
})

/** A cue of at most as many bytes as one may have. */
export const cueOf = (text: string): string => clipped(text, skillBounds.cueBytes)

/** What came of a skill. Rewards are read as −1 to 1. */
export const SkillCounts = z.strictObject({
  /** Episodes in which it was offered, and in which it would have been and was left out by chance. */
  offered: Moments,
  leftOut: Moments,
  /** Episodes that called it: its code was loaded then. */
  called: Moments,
  /** Episodes that called it, in which no run of it failed, and that worked. */
  helped: z.int().nonnegative(),
})
export type SkillCounts = z.infer<typeof SkillCounts>

export const noCounts: SkillCounts = { offered: noMoments, leftOut: noMoments, called: noMoments, helped: 0 }
