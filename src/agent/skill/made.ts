import { z } from 'zod'
import { JsonObject } from '../../core/index.ts'

/** A tool's call with its answer, as an episode saw it. */
export const SeenCall = z.strictObject({
  name: z.string(),
  /** `null` where it was too large to keep. */
  arguments: JsonObject.nullable(),
  /** What was answered; `null` where it was too large to keep. */
  content: z.string().nullable(),
  isError: z.boolean(),
  /** The run of a skill that made the call, as its number in the episode; `null`: the policy made it. */
  run: z.int().nonnegative().nullable(),
})
export type SeenCall = z.infer<typeof SeenCall>

/** What one Decision of skills holds. */
export const SkillMade = z.discriminatedUnion('did', [
  /** An episode was equipped with them. */
  z.strictObject({
    did: z.literal('offer'),
    query: z.string(),
    /** The model that acts, as it was named. */
    model: z.string().nullable(),
    /** Skills that fit, the best first; which of them were offered; and whether a rule bars one: then it is a trial. */
    skills: z.array(
      z.strictObject({
        id: z.string(),
        similarity: z.number(),
        score: z.number(),
        barred: z.boolean(),
        offered: z.boolean(),
      }),
    ),
    /** Whether chance left all of them out: such episodes show what there would be without skills. */
    bare: z.boolean(),
    /** The chances of that (half of it, that one that fits was left out), and that a barred one was offered. */
    explore: z.number(),
    retry: z.number(),
  }),
  /** A skill was called: its code was loaded and run. */
  z.strictObject({
    did: z.literal('call'),
    id: z.string(),
    run: z.int().nonnegative(),
    /** Tools that it called. */
    calls: z.int().nonnegative(),
    /** The code of the error that it ended with. */
    error: z.string().nullable(),
  }),
  /** What was called in a step of the episode, by the policy or by its skills, and what came back. */
  z.strictObject({
    did: z.literal('saw'),
    /** 0 for the episode that was equipped, another number for each fork of it. */
    fork: z.int().nonnegative(),
    calls: z.array(SeenCall),
  }),
])
export type SkillMade = z.infer<typeof SkillMade>

/** A skill that an episode could be offered, as a Decision holds it. */
export type FittingSkill = Extract<SkillMade, { did: 'offer' }>['skills'][number]
