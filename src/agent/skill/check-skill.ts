import { canonicalJson } from '../../core/index.ts'
import { runInSandbox } from '../../environment/index.ts'
import { broke, failedTest } from './errors.ts'
import { codeOf, errorOf, runSkill } from './run-skill.ts'
import type { Skill, SkillTest } from './skill.ts'
import type { SkillsValue } from './value.ts'

/** What a skill may do in a run where nobody says otherwise. */
export const defaultLimits: Pick<SkillsValue, 'calls' | 'steps'> = { calls: 32, steps: 2_000_000 }

/**
 * Runs a skill's tests in the sandbox: tools answer what the test says, and the skill must make exactly the calls that it says,
 * in their order, and give back what it says.
 * @throws SkillError for code that defines no `run`, loops, reaches outside, or fails a test: the first problem that there is.
 */
export async function checkSkill(skill: Skill, limits = defaultLimits): Promise<void> {
  const { name } = skill
  const loaded = await runInSandbox(`${codeOf(skill)}\ntypeof run`, { steps: limits.steps, thread: 'kept' })
  const error = errorOf(skill, loaded, limits.steps)
  if (error) throw error
  if (loaded.kind === 'returned' && loaded.value !== 'function') {
    throw broke(name, 'its code defines no function "run(input, call, task)"')
  }
  for (const [i, test] of skill.tests.entries()) await passes(skill, test, i, limits)
}

async function passes(skill: Skill, test: SkillTest, index: number, limits: typeof defaultLimits): Promise<void> {
  const { input, task, calls, output } = test
  const fails = (problem: string) => failedTest(skill.name, index, problem)
  let made = 0
  const run = await runSkill(skill, { input, task }, limits, async (call) => {
    const expected = calls[made++]
    if (expected === undefined) throw fails(`it called "${call.name}" after all calls that were expected`)
    const { name, arguments: given, answer } = expected
    if (name !== call.name || canonicalJson(given) !== canonicalJson(call.arguments)) {
      throw fails(`its call ${made} is ${inWords(call)}, and ${inWords(expected)} was expected`)
    }
    return answer
  })
  if (run.error) throw run.error
  if (made < calls.length) throw fails(`it made ${made} of ${calls.length} calls`)
  if (output !== null && run.output !== output) throw fails('it gave back something else')
}

const inWords = ({ name, arguments: given }: { readonly name: string; readonly arguments: unknown }) =>
  `${name}(${JSON.stringify(given).slice(0, 200)})`
