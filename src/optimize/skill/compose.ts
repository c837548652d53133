import {
  clipped,
  cueOf,
  newSkill,
  type Skill,
  skillBounds,
  type SkillTest,
  type TakenValue,
} from '../../agent/index.ts'
import { type Json, sha256 } from '../../core/index.ts'
import { sourceOf } from './expression.ts'
import type { Generalised, Parameter } from './generalise.ts'
import type { Instance, Routine } from './routines.ts'
import { takenIn } from './taken.ts'
import type { Trace } from './traces.ts'

/** Tests that a skill keeps; it is checked by every instance. */
const keptTests = 4

/** A skill of a routine, and the tests that it has to pass. `null` where that is larger than a skill may be. */
export function composed(
  { names, support, instances }: Routine,
  { calls, parameters }: Generalised,
  { owner, model }: Pick<Trace, 'owner' | 'model'>,
): { readonly skill: Skill; readonly tests: readonly SkillTest[] } | null {
  const source = sourceOf(calls)
  const tests = instances.map((instance, i) => testOf(instance, parameters, i))
  const takes = takenIn(calls, instances)
  const derivedFrom = [...new Set(instances.flatMap((one) => one.derivedFrom))]
  const fits =
    tests.every((test) => Buffer.byteLength(JSON.stringify(test)) <= skillBounds.testBytes) &&
    Buffer.byteLength(source) <= skillBounds.sourceBytes &&
    derivedFrom.length <= skillBounds.lineage &&
    new Set(names).size <= skillBounds.uses
  if (!fits || takes === null || takes.length > skillBounds.takes) return null
  const skill = newSkill({
    name: nameOf(names, source),
    description: clipped(description(names, parameters, takes, support), skillBounds.descriptionBytes),
    parameters: schemaOf(parameters),
    source,
    uses: [...new Set(names)],
    takes: [...takes],
    tests: tests.slice(0, keptTests),
    madeBy: 'learned',
    cues: [...new Set(instances.map(({ cue }) => cueOf(cue)).filter((cue) => cue !== ''))].slice(0, skillBounds.cues),
    derivedFrom,
    owner,
    model,
  })
  return { skill, tests }
}

/** What one episode did: what a skill of it must do, given what it was given. */
function testOf({ calls, cue }: Instance, parameters: readonly Parameter[], instance: number): SkillTest {
  const given = parameters.filter(({ fallback }) => fallback === null)
  return {
    input: Object.fromEntries(given.map(({ name, values }) => [name, values[instance] ?? null])),
    task: cue,
    calls: calls.map(({ name, arguments: of, content }) => ({
      name,
      arguments: of,
      answer: { content, isError: false },
    })),
    output: clipped(calls.map(({ content }) => content).join('\n'), skillBounds.outputBytes),
  }
}

/** Readable, and no other skill's. */
function nameOf(names: readonly string[], source: string): string {
  const words = names.filter((name, i) => name !== names[i - 1]).map((name) => name.replaceAll(/\W/g, '_'))
  return `${words.join('_').slice(0, 48)}_${sha256(source).slice(0, 6)}`
}

function description(
  names: readonly string[],
  parameters: readonly Parameter[],
  takes: readonly TakenValue[],
  support: number,
): string {
  const given = parameters.map(({ name, fallback }) => (fallback === null ? name : `${name} (else as the task says)`))
  const needs = given.length === 0 ? '' : ` Give ${given.join(', ')}.`
  const handed = takes.map(({ call, from, path }) => `${path.join('.')} of ${names[call]} from ${names[from]}`)
  const hands = handed.length === 0 ? '' : ` Takes over ${handed.join(', ')}.`
  return `Calls ${names.join(', ')} in this order and gives all their answers.${needs}${hands} It solved ${support} tasks.`
}

const schemaOf = (parameters: readonly Parameter[]): Record<string, Json> => ({
  type: 'object',
  properties: Object.fromEntries(parameters.map(({ name, values }) => [name, typeOf(values)])),
  required: parameters.filter(({ fallback }) => fallback === null).map(({ name }) => name),
})

function typeOf(values: readonly Json[]): Json {
  const types = new Set(
    values.map((value) => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)),
  )
  const [type] = types
  return types.size === 1 && type !== undefined ? { type } : {}
}
