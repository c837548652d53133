import { type Task, wordsIn } from '../../core/index.ts'

/** As much of a task as tells its family; one of training is known by its id, in whatever words it is asked. */
export type Asked = Pick<Task, 'instruction' | 'tier' | 'family'> & Partial<Pick<Task, 'id'>>

/** Names the family of a task: what is learned alike. Total: a task that is like no other has the name of its tier. */
export type FamilyOf = (task: Asked) => string

/** A word that fewer tasks share is taken for a name or a number, and not for the wording. */
const sharedBy = (tasks: number) => Math.max(3, Math.ceil(tasks / 50))
/** A wording that fewer tasks have is no family of its own. */
const smallest = (tasks: number) => Math.max(3, Math.ceil(tasks / 200))
/** Words of a wording that its name holds, at most. */
const wordsShown = 12

const blank = '…'

/** The words of an instruction, as far as it tells a wording. */
const openingOf = (instruction: string): readonly string[] => wordsIn(instruction.slice(0, 2000))

/**
 * Sorts tasks into families: by the name that a task gives (`Task.family`), else by its wording, which is the instruction
 * without the words that few tasks share. So `Which version of edge supports X?` and `… supports Y?` are one family. Where
 * training tasks are of several tiers, a family is of one of them: what is asked alike may be harder in another.
 * @param tasks training tasks: they decide what is shared. Tasks of other splits can be sorted with the result.
 */
export function familiesOf(tasks: readonly Asked[]): FamilyOf {
  const shared = new Map<string, number>()
  for (const { instruction } of tasks) {
    for (const word of new Set(openingOf(instruction))) shared.set(word, (shared.get(word) ?? 0) + 1)
  }
  const least = sharedBy(tasks.length)
  const wordingOf = ({ instruction }: Asked) => {
    const kept = openingOf(instruction).map((word) => ((shared.get(word) ?? 0) >= least ? word : blank))
    const merged = kept.filter((word, i) => word !== blank || kept[i - 1] !== blank)
    return merged.length > wordsShown ? [...merged.slice(0, wordsShown), blank].join(' ') : merged.join(' ')
  }
  const named = new Map(
    tasks.flatMap(({ instruction, family }) => (family === undefined ? [] : [[instruction, family]])),
  )
  const severalTiers = new Set(tasks.map(({ tier }) => tier)).size > 1
  const inTier = (name: string, { tier }: Asked) =>
    severalTiers && tier !== undefined && !namesTier(name, tier) ? `${tier}: ${name}` : name
  const sizes = new Map<string, number>()
  for (const task of tasks) {
    const name = inTier(wordingOf(task), task)
    sizes.set(name, (sizes.get(name) ?? 0) + 1)
  }
  const familyOf = (task: Asked): string => {
    const given = task.family ?? named.get(task.instruction)
    if (given !== undefined) return inTier(given, task)
    const wording = inTier(wordingOf(task), task)
    return (sizes.get(wording) ?? 0) >= smallest(tasks.length) ? wording : (task.tier ?? 'all')
  }
  const known = new Map(tasks.flatMap((task) => (task.id === undefined ? [] : [[task.id, familyOf(task)]])))
  return (task) => (task.id === undefined ? undefined : known.get(task.id)) ?? familyOf(task)
}

/** Whether a family's name begins with its tier already, as a word. */
const namesTier = (name: string, tier: string): boolean =>
  name.startsWith(tier) && !/^[\p{L}\p{N}]/u.test(name.slice(tier.length))
