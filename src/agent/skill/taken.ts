import { type Json, overridesInstructions } from '../../core/index.ts'
import { unfitValue } from './errors.ts'
import { type Skill, skillBounds } from './skill.ts'

/** What a call of a skill is checked against. */
export interface Asked {
  readonly input: Readonly<Record<string, Json>>
  readonly task: string
}

/**
 * Checks what a skill hands on from answers of tools: what it says it takes over has the type and size that it says; and of a
 * learned skill, no text that its input, the task and its code do not hold is long, or reads as an instruction. An answer is
 * data from outside, and the next tool may believe it (invariant 10).
 * @param index of the call among those of this run.
 * @throws SkillError for a value that is none of these: the call is not made.
 */
export function screenTaken(skill: Skill, asked: Asked, given: Record<string, Json>, index: number): void {
  for (const { call, path, type, most } of skill.takes) {
    if (call !== index) continue
    const value = valueAt(given, path)
    const at = path.join('.')
    if (typeof value !== type) throw unfitValue(skill.name, `"${at}" is no ${type}`)
    if (Buffer.byteLength(String(value)) > most) throw unfitValue(skill.name, `"${at}" has more than ${most} bytes`)
  }
  if (skill.madeBy === 'people') return
  const known = [asked.task, skill.source, ...textsIn(asked.input)]
  for (const text of textsIn(given)) {
    if (known.some((one) => one.includes(text))) continue
    if (Buffer.byteLength(text) > skillBounds.takenBytes) {
      throw unfitValue(skill.name, `a text has more than ${skillBounds.takenBytes} bytes`)
    }
    if (overridesInstructions(text)) throw unfitValue(skill.name, 'a text reads as an instruction')
  }
}

function valueAt(root: Json, path: readonly (string | number)[]): unknown {
  let at: unknown = root
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Reflect.get(at, key)
  }
  return at
}

/** All texts in a value, names of its parts as well. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(textsIn)
  return Object.entries(value as Record<string, Json>).flatMap(([key, inner]) => [key, ...textsIn(inner)])
}
