import { z } from 'zod'
import type { Embedder, Json, Kind } from '../../core/index.ts'
import { problemsOf } from '../kind-value.ts'
import { readBackName } from '../context/read-back.ts'
import { findToolsName } from '../context/tool-offer.ts'
import { lexicalEmbedder } from '../memory/lexical.ts'
import type { ParameterDefinition } from '../parameters.ts'
import { defaultLimits } from './check-skill.ts'
import { badSkills } from './errors.ts'
import { type SkillExperience, skillExperiences } from './experience.ts'
import { SkillMade } from './made.ts'
import { newSkill, type Skill, type SkillTest, type TakenValue } from './skill.ts'
import { type SkillsOf, SkillsParameter } from './skill-parameter.ts'
import { SkillsValue } from './value.ts'

/** Names of tools that a managed conversation adds: no skill may have them. */
export const reservedNames: ReadonlySet<string> = new Set([readBackName, findToolsName])

/** Tools that are made of others: offered where they fit, and learned from what worked. */
export type SkillKind = Kind<'skill', SkillsValue, SkillMade, SkillsParameter, SkillExperience>

/** The Kind `skill`. Skills stand in the value itself, with their code and their tests, as people can read them. */
export const skillKind = (of: SkillsOf): SkillKind => ({
  kind: 'skill',
  value: SkillsValue,
  made: SkillMade,
  handle: (bound, recorder) => new SkillsParameter(bound, recorder, of),
  deposit: skillExperiences,
})

/** A skill as people write it. */
export interface SkillGiven {
  /** As the policy calls it: letters, digits, "_", "." and "-", at most 64. */
  readonly name: string
  readonly description: string
  /** JSON Schema of its arguments. Default: none. */
  readonly parameters?: Record<string, Json>
  /** JavaScript that defines `run(input, call, task)`; see `Skill`. Nothing runs it before it is called: see `checkSkill`. */
  readonly source: string
  /** Tools of the episode that it calls. Default: none. */
  readonly uses?: readonly string[]
  /** What it takes over from answers of tools: a value of another type or size ends its run. Default: nothing is checked. */
  readonly takes?: readonly TakenValue[]
  /** What it must do, for `checkSkill`. Default: nothing. */
  readonly tests?: readonly SkillTest[]
  /** What it is for, as tasks say it. Default: every task. */
  readonly cues?: readonly string[]
}

/** How skills are offered. */
export interface SkillsOptions {
  /** What people wrote. Learning never changes, bars or removes it. Default: nothing. */
  readonly skills?: readonly SkillGiven[]
  /**
   * Names the model that acts. Skills are bound to the model that they were learned with: under another name they are not
   * offered, until a run has learned and a gate has judged them anew. Default: nothing, and a change of models is not seen.
   */
  readonly model?: string
  /** Skills offered in one episode, 1 to 32. Default 4. */
  readonly offer?: number
  /** Cosine in [-1, 1] below which a skill does not fit a task. Default 0.2. */
  readonly floor?: number
  /**
   * The chance in [0, 0.5] that an episode is offered no skill at all, and half of it that a single one is left out, to see what
   * they bring. Default 0.05.
   */
  readonly explore?: number
  /** The chance in [0, 0.5] that a barred skill is offered in production, to see whether it still does harm. Default 0. */
  readonly retry?: number
  /** Tools that one run of a skill may call, 1 to 256. Default 32. */
  readonly calls?: number
  /** Steps of JavaScript that one run may take, 10,000 to a thousand million. Default 2 million: some tenths of a second. */
  readonly steps?: number
  /** What skills are found with. Default: `lexicalEmbedder()`, by words. */
  readonly embedder?: Embedder
}

/**
 * Declares skills.
 * @throws SkillError for a number out of its range, and for a skill that cannot be one.
 */
export function skills(options: SkillsOptions = {}): ParameterDefinition<SkillKind> {
  const { model = null, embedder = lexicalEmbedder(), skills: given = [] } = options
  const { offer = 4, floor = 0.2, explore = 0.05, retry = 0 } = options
  const { calls = defaultLimits.calls, steps = defaultLimits.steps } = options
  const numbers = { offer, floor, explore, retry, calls, steps }
  const value = { ...numbers, skills: given.map(skillOf), counts: {}, rules: [] }
  const { success, error } = SkillsValue.safeParse(value)
  if (!success) throw badSkills(`skills: ${problemsOf(error)}.`)
  return { kind: 'skill', of: skillKind({ embedder, model }), initial: () => value }
}

/**
 * A skill that a person wrote.
 * @throws SkillError for what is none.
 */
export function skillOf({ parameters, uses = [], takes = [], tests = [], cues = [], ...given }: SkillGiven): Skill {
  if (reservedNames.has(given.name))
    throw badSkills(`The skill "${given.name}" has the name of a tool of Ratchet's own.`)
  try {
    return newSkill({
      ...given,
      parameters: parameters ?? { type: 'object', properties: {} },
      uses: [...uses],
      takes: [...takes],
      tests: [...tests],
      cues: [...cues],
      madeBy: 'people',
      derivedFrom: [],
      owner: { tenant: null, about: null },
      model: null,
    })
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error
    throw badSkills(`The skill "${given.name}" is none: ${problemsOf(error)}.`)
  }
}
