import { z } from 'zod'
import { type Json, JsonObject } from '../../core/index.ts'
import { runInSandbox, type SandboxOutcome } from '../../environment/index.ts'
import { clipped } from '../memory/clipped.ts'
import { broke, loops, outside, SkillError, tooLarge, tooManyCalls, tooSlow, undeclaredTool } from './errors.ts'
import { type Skill, skillBounds, type ToolAnswer } from './skill.ts'
import { screenTaken } from './taken.ts'
import type { SkillsValue } from './value.ts'

/** A call of a tool, as a skill makes it. */
export interface AskedCall {
  readonly name: string
  readonly arguments: Record<string, Json>
}

/** How a run of a skill ended. */
export interface SkillRun {
  /** What it gave back, as text; `null` where it ended with an error. */
  readonly output: string | null
  readonly error: SkillError | null
  /** Tools that it called. */
  readonly calls: number
}

const AskedCall = z.object({ name: z.string(), arguments: JsonObject })

/** What a skill may not know stands still: the same input gives the same calls. */
const before = `delete globalThis.Date
Math.random = () => { throw new ReferenceError("'Math.random' is not defined") }
`
const after = `
;function ratchetRuns(input, task) {
  const call = (name, given = {}) => {
    const { content, isError } = host({ name: String(name), arguments: given })
    if (isError) throw new Error(content)
    return content
  }
  return run(input, call, task)
}`

/** The code that a sandbox is given for a skill. */
export const codeOf = ({ source }: Pick<Skill, 'source'>): string => `${before}${source}${after}`

/** Milliseconds of its own that a run may take: long after its steps are spent. */
const deadlineMs = 10_000

/**
 * Runs a skill in the sandbox.
 * @param tools carries a call out. What it throws ends the run: a SkillError is how the run ended, anything else is thrown.
 */
export async function runSkill(
  skill: Skill,
  asked: { readonly input: Record<string, Json>; readonly task: string },
  { calls: most, steps }: Pick<SkillsValue, 'calls' | 'steps'>,
  tools: (call: AskedCall) => Promise<ToolAnswer>,
): Promise<SkillRun> {
  const { name } = skill
  let calls = 0
  const host = async (json: Json): Promise<Json> => {
    const call = AskedCall.safeParse(json)
    if (!call.success) throw broke(name, 'it called a tool with what is no object of arguments')
    if (!skill.uses.includes(call.data.name)) throw undeclaredTool(name, call.data.name)
    if (calls === most) throw tooManyCalls(name, most)
    screenTaken(skill, asked, call.data.arguments, calls)
    calls++
    return tools(call.data)
  }
  try {
    const call = { name: 'ratchetRuns', args: [asked.input, asked.task] }
    const outcome = await runInSandbox(codeOf(skill), { call, steps, deadlineMs, thread: 'kept' }, host)
    const error = errorOf(skill, outcome, steps)
    return { output: outcome.kind === 'returned' ? asText(outcome.value) : null, error, calls }
  } catch (error) {
    if (!(error instanceof SkillError)) throw error
    return { output: null, error, calls }
  }
}

/** What an outcome says against a skill; `null`: nothing. */
export function errorOf(
  { name, source }: Pick<Skill, 'name' | 'source'>,
  outcome: SandboxOutcome,
  steps: number,
): SkillError | null {
  switch (outcome.kind) {
    case 'returned':
      return null
    case 'steps':
      return loops(name, steps)
    case 'memory':
      return tooLarge(name)
    case 'deadline':
      return tooSlow(name, deadlineMs)
    case 'threw': {
      const wanted = /^\s*import\b/m.test(source) ? 'import' : missingIn(outcome.message)
      return wanted === null ? broke(name, outcome.message) : outside(name, wanted)
    }
  }
}

/** What programs find elsewhere, and a skill does not. */
const elsewhere = new Set(
  'require process fetch Date Math.random performance crypto XMLHttpRequest WebSocket setTimeout setInterval setImmediate Deno Bun Buffer module exports console window document navigator WebAssembly fs os std __dirname __filename'.split(
    ' ',
  ),
)

function missingIn(message: string): string | null {
  const [, missing] = /^'([\w.]{1,40})' is not defined$/.exec(message) ?? []
  return missing !== undefined && elsewhere.has(missing) ? missing : null
}

function asText(value: Json): string {
  const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
  return clipped(text, skillBounds.outputBytes)
}
