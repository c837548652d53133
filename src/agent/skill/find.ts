import type { Audience, Embedder } from '../../core/index.ts'
import { reaches } from '../lived.ts'
import { dot, embedded } from '../memory/vector.ts'
import { ruleAgainst } from './rule.ts'
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
  const usable = value.skills.filter(
    (skill) =>
      reaches(skill.owner, audience) &&
      (skill.model === null || skill.model === model) &&
      skill.uses.every((name) => tools.includes(name)) &&
      !tools.includes(skill.name),
  )
  const [vector] = usable.length === 0 ? [] : await embedded(embedder, [query])
  if (!vector) return []
  const vectors = await vectorsOf(value, embedder)
  const near = (text: string) => dot(vector, vectors.get(text) ?? new Float32Array())
  return usable
    .map((skill) => {
      const similarity = isForAll(skill) ? 1 : Math.max(...[skill.description, ...skill.cues].map(near))
      const barred = ruleAgainst(value.rules, skill.id, audience.at, near) !== undefined
      return { skill, similarity, barred, score: similarity + worthOf(value.counts[skill.id]) }
    })
    .filter(({ similarity }) => similarity >= value.floor)
    .toSorted((a, b) => b.score - a.score || (a.skill.id < b.skill.id ? -1 : 1))
}

const isForAll = ({ madeBy, cues }: Skill) => madeBy === 'people' && cues.length === 0

/** Episodes of the rarer sort at which what was seen counts half. */
const half = 10

/** How much better episodes went with it than without, drawn towards 0 where little was seen; halved, to be added to a cosine. */
function worthOf(counts: SkillCounts | undefined): number {
  if (counts === undefined) return 0
  const { offered, leftOut } = counts
  const fewer = Math.min(offered.count, leftOut.count)
  return fewer === 0 ? 0 : ((offered.mean - leftOut.mean) / 2) * (fewer / (fewer + half))
}

const known = new WeakMap<SkillsValue, { readonly embedder: Embedder; readonly made: Promise<Vectors> }>()
type Vectors = ReadonlyMap<string, Float32Array>

/** Vectors of all texts that a value is searched by; made once. */
function vectorsOf(value: SkillsValue, embedder: Embedder): Promise<Vectors> {
  const before = known.get(value)
  if (before?.embedder === embedder) return before.made
  const made = vectorsFor(value, embedder)
  known.set(value, { embedder, made })
  // What could not be made may be made the next time: a model that was not there yet.
  made.catch(() => known.delete(value))
  return made
}

async function vectorsFor({ skills, rules }: SkillsValue, embedder: Embedder): Promise<Vectors> {
  const texts = [
    ...new Set([
      ...skills.flatMap(({ description, cues }) => [description, ...cues]),
      ...rules.flatMap(({ scope }) => scope ?? []),
    ]),
  ]
  const vectors = await embedded(embedder, texts)
  return new Map(texts.map((text, i) => [text, vectors[i] ?? new Float32Array()]))
}
