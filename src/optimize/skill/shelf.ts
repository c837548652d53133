import {
  type NegativeRule,
  noCounts,
  noRoom,
  type Skill,
  type SkillCounts,
  skillBounds,
  type SkillsValue,
} from '../../agent/index.ts'

/** Skills while they learn: those of a value, which can be changed. What people made is left as it is. */
export class Shelf {
  readonly #frame: Omit<SkillsValue, 'skills' | 'counts' | 'rules'>
  readonly #skills: Map<string, Skill>
  readonly #counts: Map<string, SkillCounts>
  rules: readonly NegativeRule[]

  constructor({ skills, counts, rules, ...frame }: SkillsValue) {
    this.#frame = frame
    this.#skills = new Map(skills.map((skill) => [skill.id, skill]))
    this.#counts = new Map(Object.entries(counts))
    this.rules = rules
  }

  get limits(): Pick<SkillsValue, 'calls' | 'steps'> {
    return this.#frame
  }

  get skills(): readonly Skill[] {
    return [...this.#skills.values()]
  }

  get learned(): readonly Skill[] {
    return this.skills.filter(({ madeBy }) => madeBy === 'learned')
  }

  get(id: string): Skill | undefined {
    return this.#skills.get(id)
  }

  countsOf(id: string): SkillCounts {
    return this.#counts.get(id) ?? noCounts
  }

  count(id: string, counts: SkillCounts): void {
    this.#counts.set(id, counts)
  }

  /** What came of it so far says nothing of it any more. */
  startAnew(id: string): void {
    this.#counts.delete(id)
  }

  /**
   * Adds a skill, in place of others that were learned: all of it, or nothing.
   * @throws SkillError where there would be more skills, or bytes of them, than a value may have.
   */
  put(skill: Skill, instead: readonly Skill[] = []): void {
    const gone = new Set(instead.filter(({ madeBy }) => madeBy === 'learned').map(({ id }) => id))
    const after = [...this.skills.filter(({ id }) => id !== skill.id && !gone.has(id)), skill]
    if (after.length > skillBounds.skills)
      throw noRoom(skill.name, `at most ${skillBounds.skills} skills stand together`)
    const bytes = Buffer.byteLength(JSON.stringify(after))
    if (bytes > skillBounds.bytes) {
      throw noRoom(skill.name, `all skills would have ${bytes} bytes, and at most ${skillBounds.bytes} are allowed`)
    }
    for (const id of gone) this.remove(id)
    this.#skills.set(skill.id, skill)
  }

  /** Learned ones only: what people made stays. */
  remove(id: string): void {
    if (this.get(id)?.madeBy !== 'learned') return
    this.#skills.delete(id)
    this.#counts.delete(id)
  }

  /** @param chances that a skill which fits is left out, and that a barred one is tried. */
  value(chances: Pick<SkillsValue, 'explore' | 'retry'> = this.#frame): SkillsValue {
    const { explore, retry } = chances
    const skills = this.skills.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const counts = Object.fromEntries([...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    return { ...this.#frame, explore, retry, skills, counts, rules: [...this.rules] }
  }
}
