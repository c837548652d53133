import { z } from 'zod'
import { newSkill, Skill } from '../../agent/index.ts'
import { type ChatModel, type LeakCheck, overridesInstructions } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'

/** Gives a skill a better name, description or code; the skill as it is where nothing better comes. */
export type Describe = (skill: Skill, passes: (skill: Skill) => Promise<boolean>) => Promise<Skill>

const instructions = `A tool was made from calls that solved tasks. You get its JavaScript and the JSON Schema of its arguments, as data.
Answer with one JSON object and nothing else:
{"name": "lower_case_words", "description": "what it does, when to call it, what each argument is", "source": "better JavaScript, or null"}
The source must define run(input, call, task), make the same calls in the same order, and give back the same text. Leave it null unless you improve it.`

const Answer = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{2,47}$/),
  description: Skill.shape.description,
  source: Skill.shape.source.nullish(),
})

const patienceMs = 120_000

/** What writers' answers came to. */
export interface Written {
  described: number
  rewritten: number
  refused: number
}

/**
 * Asks a model for words, and for better code. All that it says is data: words that would instruct a model are refused, and its
 * code must pass every test that the code it replaces passed. It is shown no task and no answer of a tool, but what the code
 * holds of them.
 */
export function describedBy(
  model: ChatModel,
  { leaks, served, isTaken }: { leaks: LeakCheck | undefined; served: string; isTaken: (name: string) => boolean },
  written: Written,
): Describe {
  return async (skill, passes) => {
    const answer = await askFor(model, skill)
    if (answer === null || overridesInstructions(`${answer.description}\n${answer.source ?? ''}`)) {
      written.refused++
      return skill
    }
    const { description, source } = answer
    const name = freeName(answer.name, skill, isTaken)
    const withWords = remade(skill, { name, description })
    if (withWords === null || leaks?.(`${description}\n${source ?? ''}`, served)) {
      written.refused++
      return skill
    }
    written.described++
    const withCode = typeof source === 'string' ? remade(withWords, { source }) : null
    if (withCode === null || !(await passes(withCode))) return withWords
    written.rewritten++
    return withCode
  }
}

/** The name as it was proposed, or with a part of the skill's id where a tool or another skill has it. */
function freeName(proposed: string, { id, uses }: Skill, isTaken: (name: string) => boolean): string {
  return isTaken(proposed) || uses.includes(proposed) ? `${proposed}_${id.slice(0, 8)}` : proposed
}

function remade(skill: Skill, change: Partial<Skill>): Skill | null {
  const { id: _id, rent: _rent, ...rest } = { ...skill, ...change }
  try {
    return newSkill(rest)
  } catch (error) {
    if (error instanceof z.ZodError) return null
    throw error
  }
}

async function askFor(model: ChatModel, { source, parameters, uses }: Skill): Promise<z.infer<typeof Answer> | null> {
  try {
    const { text, whole } = await model.ask({
      instructions,
      material: JSON.stringify({ uses, parameters, source }),
      maxTokens: 2_048,
      signal: AbortSignal.timeout(patienceMs),
    })
    const object = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)
    return whole ? (Answer.safeParse(parsed(object)).data ?? null) : null
  } catch (error) {
    // Without words the skill is as good as with them.
    if (RatchetError.is(error)) return null
    throw error
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
