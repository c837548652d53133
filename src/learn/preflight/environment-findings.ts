import { type Environment, type LearnableTask, ToolDefinition } from '../../core/index.ts'
import { type Proving, untilTimeIsUp } from './attempt.ts'
import { counted, type Finding, gravity, quoted, spread } from './finding.ts'
import { lengthFindings, type Measure } from './length-findings.ts'
import { type Visit, visit } from './visit.ts'

/** Tasks that are opened, at most. */
const mostVisits = 8

/**
 * Opens up to 8 tasks, evenly spread, and makes a few small acts in each: whether the environment opens, steps and closes,
 * shows something and offers tools that can be called, and whether what it shows fits the model's context.
 * @throws the signal's reason when it aborts.
 */
export async function environmentFindings({
  environment,
  tasks,
  ...rest
}: Pick<Proving, 'now' | 'seconds' | 'callSeconds' | 'signal'> &
  Measure & {
    readonly environment: Environment
    readonly tasks: readonly LearnableTask[]
  }): Promise<readonly Finding[]> {
  const { callSeconds = 10 } = rest
  const visits = await untilTimeIsUp(rest, spread(tasks, mostVisits), (task) => visit(environment, task, callSeconds))
  return [
    ...(['open', 'step', 'close'] as const).flatMap((call) => failures(visits, call)),
    ...openings(visits),
    ...missingTools(visits),
    ...badTools(visits),
    ...lengthFindings(visits, rest),
  ]
}

/** How the failure of each call is told. */
const failing = {
  open: {
    code: 'learn/environment-open',
    verbs: ['does not open', 'do not open'],
    hint: 'Mend the environment, or the data of these tasks.',
  },
  step: {
    code: 'learn/environment-step',
    verbs: ['fails at a step', 'fail at a step'],
    hint: 'Return an error message as an observation where an act is wrong, and mend what fails.',
  },
  close: {
    code: 'learn/environment-close',
    verbs: ['does not close', 'do not close'],
    hint: 'Mend the environment: without a final state no episode has a reward.',
  },
} as const

/** A step that fails loses one episode, and the acts of a visit are no policy's: it stops nothing. */
function failures(visits: readonly Visit[], call: keyof typeof failing): readonly Finding[] {
  const failed = visits.flatMap(({ task, errors }) => {
    const error = errors[call]
    return error === undefined ? [] : [`the task ${quoted(task.id, 40)}: ${quoted(error, 160)}`]
  })
  const [example] = failed
  if (example === undefined) return []
  const { code, verbs, hint } = failing[call]
  return [
    {
      severity: call === 'step' ? 'warn' : gravity(failed.length, visits.length),
      code,
      message: `${counted(failed.length, visits.length, 'task', verbs)}. For example, ${example}.`,
      hint,
      n: failed.length,
      of: visits.length,
      example,
    },
  ]
}

function openings(visits: readonly Visit[]): readonly Finding[] {
  const opened = visits.filter(({ opened }) => opened !== null)
  const blank = opened.filter(({ opened }) => opened?.opening.every(({ content }) => content.trim() === ''))
  const [first] = blank
  if (first === undefined) return []
  const example = `the task ${quoted(first.task.instruction)}`
  return [
    {
      severity: 'warn',
      code: 'learn/empty-opening',
      message: `${counted(blank.length, opened.length, 'task', ['opens', 'open'])} with nothing to read. For example, ${example}.`,
      hint: 'Let the opening hold what is asked, unless the agent says it itself.',
      n: blank.length,
      of: opened.length,
      example,
    },
  ]
}

function missingTools(visits: readonly Visit[]): readonly Finding[] {
  const opened = visits.filter(({ opened }) => opened !== null)
  const bare = opened.filter(({ opened }) => opened?.tools.length === 0)
  const [first] = bare
  if (first === undefined) return []
  const example = `the task ${quoted(first.task.instruction)}`
  return [
    {
      severity: 'warn',
      code: 'learn/no-tools',
      message: `${counted(bare.length, opened.length, 'task', ['offers', 'offer'])} no tools. For example, ${example}.`,
      hint: 'Give the episode its tools, unless talk alone solves the task.',
      n: bare.length,
      of: opened.length,
      example,
    },
  ]
}

function badTools(visits: readonly Visit[]): readonly Finding[] {
  const opened = visits.filter(({ opened }) => opened !== null)
  const bad = opened.flatMap(({ task, opened }) => {
    const problem = toolProblem(opened?.tools ?? [])
    return problem === null ? [] : [`the task ${quoted(task.id, 40)}: ${problem}`]
  })
  const [example] = bad
  if (example === undefined) return []
  return [
    {
      severity: gravity(bad.length, opened.length),
      code: 'learn/bad-tool',
      message: `${counted(bad.length, opened.length, 'task', ['offers', 'offer'])} a tool that cannot be called. For example, ${example}.`,
      hint: 'Give every tool a name of its own, a description and a JSON Schema of its arguments.',
      n: bad.length,
      of: opened.length,
      example,
    },
  ]
}

function toolProblem(tools: readonly unknown[]): string | null {
  const names = new Set<string>()
  for (const [i, tool] of tools.entries()) {
    const checked = ToolDefinition.safeParse(tool)
    if (!checked.success)
      return `tool ${i + 1} has no usable ${checked.error.issues[0]?.path.map(String).join('.') || 'definition'}`
    const { name } = checked.data
    if (names.has(name)) return `two tools are called ${quoted(name)}`
    names.add(name)
  }
  return null
}
