import type { Action, Episode, Message, StepOutcome, ToolCall, ToolDefinition } from '../../core/index.ts'
import { AgentError } from '../errors.ts'
import { currentRecorder } from '../recorder.ts'

/** What a tool of ours says to a call. */
export interface Answer {
  readonly content: string
  /** Set where the call showed nothing. */
  readonly isError?: true
}

/** A tool that is served beside the episode's own. */
export interface BuiltIn {
  readonly definition: ToolDefinition
  /** @param given arguments, as the policy gave them. */
  answer(given: ToolCall['arguments']): Answer | Promise<Answer>
}

/**
 * An episode in which some tools are served here. It is asked for its own calls only, in one step, and for none where there
 * are none of its own.
 * @throws AgentError where the episode has a tool of such a name.
 */
export function withBuiltIns(
  episode: Pick<Episode, 'step' | 'tools'>,
  builtIns: readonly BuiltIn[],
): Pick<Episode, 'step'> {
  const served = new Map(builtIns.map((one) => [one.definition.name, one]))
  const taken = episode.tools.find(({ name }) => served.has(name))
  if (taken) throw nameTaken(taken.name)
  return {
    async step(action, signal) {
      if (action.kind === 'message' || !action.calls.some(({ name }) => served.has(name))) {
        return episode.step(action, signal)
      }
      const own = action.calls.filter(({ name }) => !served.has(name))
      const outcome = own.length === 0 ? nothing : await episode.step(partOf(action, own), signal)
      const answers: Message[] = []
      for (const call of action.calls) {
        const answer = await served.get(call.name)?.answer(call.arguments)
        if (answer) answers.push(messageOf(call, answer))
      }
      return { ...outcome, messages: inOrder(action.calls, served, answers, outcome.messages) }
    },
  }
}

const nothing: StepOutcome = { messages: [], done: false }

/** The same action without some calls: it comes from whatever the whole came from. */
function partOf(action: Action, calls: readonly ToolCall[]): Action {
  const part: Action = { kind: 'calls', calls }
  currentRecorder().madeOf(part, action)
  return part
}

const messageOf = ({ name, id }: ToolCall, answer: Answer): Message => ({
  role: 'tool',
  name,
  ...(id === undefined ? {} : { toolCallId: id }),
  ...answer,
})

/** Results in the order of their calls, where the episode gave one for each; else ours come first. */
function inOrder(
  calls: readonly ToolCall[],
  served: ReadonlyMap<string, BuiltIn>,
  answers: readonly Message[],
  others: readonly Message[],
): readonly Message[] {
  const own = calls.filter(({ name }) => !served.has(name)).length
  if (others.length !== own || others.some(({ role }) => role !== 'tool')) return [...answers, ...others]
  const [ours, theirs] = [answers.values(), others.values()]
  return calls.flatMap(({ name }) => (served.has(name) ? ours : theirs).next().value ?? [])
}

const nameTaken = (name: string) =>
  new AgentError({
    code: 'agent/tool-name-taken',
    message: `The episode has a tool "${name}", which the context manager would serve.`,
    hint: "Give the episode's tool another name; or turn ours off: `readBack: false`, or no `tools`, in context(…).",
  })
