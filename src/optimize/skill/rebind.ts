import type { Shelf } from './shelf.ts'

/**
 * Binds learned skills to another model: what they brought with the one before says nothing of this one. They are judged anew,
 * and what serves does not offer them until a gate has compared.
 * @returns their ids.
 */
export function rebound(shelf: Shelf, model: string | null): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const skill of shelf.learned) {
    if (skill.model === model) continue
    shelf.remove(skill.id)
    shelf.rules = shelf.rules.filter((rule) => rule.skill !== skill.id)
    shelf.put({ ...skill, model })
    ids.add(skill.id)
  }
  return ids
}
