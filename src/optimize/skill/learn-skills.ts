import { checkSkill, type Skill, SkillError, type SkillTest } from '../../agent/index.ts'
import { type LeakCheck, overridesInstructions } from '../../core/index.ts'
import { composed } from './compose.ts'
import { generalised } from './generalise.ts'
import { covers, type Routine, routinesIn } from './routines.ts'
import type { Shelf } from './shelf.ts'
import { grouped, groupOf, type Trace } from './traces.ts'
import type { Describe } from './describe.ts'

/** How skills are learned from traces. */
export interface Inducing {
  /** Tasks whose solutions must share a routine. */
  readonly fewest: number
  readonly perUpdate: number
  readonly leaks: LeakCheck | undefined
  /** What stood there when the run began: what it quotes is no leak. */
  readonly served: string
  readonly describe: Describe | null
}

/** Routines of one owner that are looked at in one update. */
const looked = 12

/** What became of routines in one update. */
export type Induced = Record<
  'induced' | 'superseded' | 'failedTests' | 'screened' | 'leaked' | 'barredBefore' | 'noRoom',
  number
>

/** Learns new skills from what worked. None is kept that fails what any of its episodes did. */
export async function induced(shelf: Shelf, traces: readonly Trace[], options: Inducing): Promise<Induced> {
  const counts = { induced: 0, superseded: 0, failedTests: 0, screened: 0, leaked: 0, barredBefore: 0, noRoom: 0 }
  for (const [group, of] of grouped(traces)) {
    const own = () => shelf.learned.filter((skill) => groupOf(skill) === group)
    for (const routine of routinesIn(of, options.fewest).slice(0, looked)) {
      if (counts.induced >= options.perUpdate) return counts
      const [first] = of
      if (first && !isCovered(routine, own(), of)) await learnOne(routine, first, own(), { shelf, counts, options })
    }
  }
  return counts
}

/** Whether a longer skill does it: then it would be offered twice. */
function isCovered(routine: Routine, skills: readonly Skill[], traces: readonly Trace[]): boolean {
  const all = { names: routine.names, support: new Set(traces.map(({ source }) => source)).size }
  return skills.some((skill) => {
    const names = namesOf(skill)
    return names.length > routine.names.length && covers({ names, support: all.support / 2 + 1 }, routine)
  })
}

/** The calls of a skill in their order, as its first test has them. */
const namesOf = ({ tests }: Skill): readonly string[] => tests[0]?.calls.map(({ name }) => name) ?? []

interface Learning {
  readonly shelf: Shelf
  readonly counts: Induced
  readonly options: Inducing
}

async function learnOne(
  routine: Routine,
  whose: Trace,
  own: readonly Skill[],
  { shelf, counts, options }: Learning,
): Promise<void> {
  const common = generalised(routine.instances)
  const made = common && composed(routine, common, whose)
  if (!made) return
  const { skill, tests } = made
  if (shelf.get(skill.id)) return
  if (shelf.rules.some((rule) => rule.skill === skill.id)) return void counts.barredBefore++
  if (overridesInstructions(`${skill.description}\n${skill.source}`)) return void counts.screened++
  if (options.leaks?.(skill.source, options.served)) return void counts.leaked++
  const same = own.filter((other) => namesOf(other).join('\n') === namesOf(skill).join('\n'))
  for (const other of same) if (await passes(other, tests, shelf)) return
  if (!(await passes(skill, tests, shelf))) return void counts.failedTests++
  const kept = options.describe === null ? skill : await options.describe(skill, (one) => passes(one, tests, shelf))
  if (shelf.rules.some((rule) => rule.skill === kept.id)) return void counts.barredBefore++
  try {
    // What the newest successes contradict has had its time.
    shelf.put(kept, same)
  } catch (error) {
    if (error instanceof SkillError) return void counts.noRoom++
    throw error
  }
  counts.induced++
  counts.superseded += same.length
}

/** Whether a skill does what all these episodes did. */
async function passes(skill: Skill, tests: readonly SkillTest[], { limits }: Shelf): Promise<boolean> {
  try {
    await checkSkill({ ...skill, tests: [...tests] }, limits)
    return true
  } catch (error) {
    if (error instanceof SkillError) return false
    throw error
  }
}
