import type { Audience, Embedder } from '../../core/index.ts'
import { reaches } from '../lived.ts'
import { Likeness } from './likeness.ts'
import { isBarred, textsOfScope } from './rule.ts'
import type { Skill, SkillCounts } from './skill.ts'
import type { SkillsValue } from './value.ts'

/** A skill that fits a task. */
export interface Fitting {
  readonly skill: Skill
  readonly similarity: number
  readonly score: number
  /** Whether a rule says not to offer it. */
  readonly barred: boolean
}

/** What skills are sought for. */
export interface Sought {
  readonly query: string
  /** Names of the tools that there are. */
  readonly tools: readonly string[]
  readonly model: string | null
  readonly audience: Audience
}

/** Skills that fit a task, the best first: by how near it is to what they are for, and by what they brought. */
export async function fittingSkills(
  value: SkillsValue,
  { query, tools, model, audience }: Sought,
  embedder: Embedder,
): Promise<readonly Fitting[]> {
  const peoples = new Set(value.skills.flatMap(({ madeBy, name }) => (madeBy === 'people' ? [name] : [])))
  const usable = value.skills.filter(
    (skill) =>
      // A learned one never stands in for what people made, not even where that does not fit.
      (skill.madeBy === 'people' || !peoples.has(skill.name)) &&
      reaches(skill.owner, audience) &&
      (skill.model === null || skill.model === model) &&
      skill.uses.every((name) => tools.includes(name)) &&
      !tools.includes(skill.name),
  )
  if (usable.length === 0) return []
  const near = await likenessOf(value, embedder).to(query, textsOf(value))
  return usable
    .map((skill) => {
      const { id, description, cues } = skill
      const similarity = isForAll(skill) ? 1 : Math.max(near([description]), near(cues))
      const barred = isBarred(value.rules, id, audience.at, near)
      return { skill, similarity, barred, score: similarity + worthOf(value.counts[id]) }
    })
    .filter(({ similarity }) => similarity >= value.floor)
    .toSorted((a, b) => b.score - a.score || (a.skill.id < b.skill.id ? -1 : 1))
}

const isForAll = ({ madeBy, cues }: Skill) => madeBy === 'people' && cues.length === 0

/** Episodes of the rarer sort at which what was seen counts half. */
const half = 10

/** What being nearer by one is worth, in rewards read as −1 to 1. Where skills fit alike, what they brought decides. */
const nearer = 10

/** How much better episodes went with it than without, drawn towards 0 where little was seen, as a distance. */
function worthOf(counts: SkillCounts | undefined): number {
  if (counts === undefined) return 0
  const { offered, leftOut } = counts
  const fewer = Math.min(offered.count, leftOut.count)
  return fewer === 0 ? 0 : ((offered.mean - leftOut.mean) / nearer) * (fewer / (fewer + half))
}

const known = new WeakMap<SkillsValue, { readonly embedder: Embedder; readonly likeness: Likeness }>()

/** What knows the vectors of a value's texts; the same for the same value. */
function likenessOf(value: SkillsValue, embedder: Embedder): Likeness {
  const before = known.get(value)
  if (before?.embedder === embedder) return before.likeness
  const likeness = new Likeness(embedder)
  known.set(value, { embedder, likeness })
  return likeness
}

/** All texts that tasks are compared with. */
const textsOf = ({ skills, rules }: SkillsValue): readonly string[] => [
  ...skills.flatMap(({ description, cues }) => [description, ...cues]),
  ...rules.flatMap(({ scope }) => textsOfScope(scope)),
]
