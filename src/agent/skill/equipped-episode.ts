import type { Action, Json, Message, StepOutcome, ToolCall } from '../../core/index.ts'
import { clipped } from '../memory/clipped.ts'
import type { LiveEpisode } from '../live-episode.ts'
import { currentRecorder } from '../recorder.ts'
import { shownAction } from '../sources.ts'
import { problemWith } from './arguments.ts'
import { badArguments, type SkillError } from './errors.ts'
import type { SeenCall, SkillMade } from './made.ts'
import { runSkill, type SkillRun } from './run-skill.ts'
import { type Skill, skillBounds, type ToolAnswer, toolOf } from './skill.ts'
import type { SkillsValue } from './value.ts'

/** What an equipped episode works with. */
export interface Equipment {
  /** Skills on offer, by name. */
  readonly skills: ReadonlyMap<string, Skill>
  readonly task: string
  readonly limits: Pick<SkillsValue, 'calls' | 'steps'>
  readonly record: (made: SkillMade) => void
  /** The next number of a run, and of a fork, in this episode. */
  readonly next: (of: 'run' | 'fork') => number
}

/**
 * An episode with skills among its tools. A call of a skill is carried out as the calls that the skill makes, each a step of
 * the episode; any other call passes as it is. What was called and answered is recorded: skills are learned from it.
 */
export function equippedEpisode(inner: LiveEpisode, equipment: Equipment, fork = 0): LiveEpisode {
  const { skills } = equipment
  const innerFork = inner.fork?.bind(inner)
  return {
    opening: inner.opening,
    tools: [...inner.tools, ...[...skills.values()].map(toolOf)],
    close: () => inner.close(),
    choose: () => inner.choose(),
    step: (action, signal) => new EquippedStep(inner, equipment, action, signal).take(fork),
    ...(innerFork ? { fork: () => equippedEpisode(innerFork(), equipment, equipment.next('fork') + 1) } : {}),
  }
}

/** One step of an equipped episode. */
class EquippedStep {
  readonly #seen: SeenCall[] = []
  readonly #messages: Message[] = []
  #done = false
  #reward: number | null | undefined

  readonly #inner: LiveEpisode
  readonly #equipment: Equipment
  readonly #action: Action
  readonly #signal: AbortSignal | undefined

  constructor(inner: LiveEpisode, equipment: Equipment, action: Action, signal: AbortSignal | undefined) {
    this.#inner = inner
    this.#equipment = equipment
    this.#action = action
    this.#signal = signal
  }

  /** @param fork of the episode that it is a step of. */
  async take(fork: number): Promise<StepOutcome> {
    const [action, equipment] = [this.#action, this.#equipment]
    if (action.kind === 'message') return this.#inner.step(action, this.#signal)
    if (action.calls.some(({ name }) => equipment.skills.has(name))) {
      for (const call of action.calls) {
        if (this.#done) break
        const skill = equipment.skills.get(call.name)
        if (skill) this.#messages.push(await this.#runSkill(skill, call))
        else this.#messages.push(...(await this.#step({ kind: 'calls', calls: [call] }, null)))
      }
    } else this.#messages.push(...(await this.#step(action, null)))
    if (this.#seen.length > 0) equipment.record({ did: 'saw', fork, calls: this.#seen })
    const reward = this.#reward
    return { messages: this.#messages, done: this.#done, ...(reward === undefined ? {} : { reward }) }
  }

  /** Carries calls out in the environment. @param run of the skill that makes them. */
  async #step(action: Extract<Action, { kind: 'calls' }>, run: number | null): Promise<readonly Message[]> {
    if (action !== this.#action) {
      // Whatever the whole action was made from, its parts were made from.
      for (const object of shownAction(this.#action).objects) currentRecorder().madeOf(action, object)
    }
    const { messages, done, reward } = await this.#inner.step(action, this.#signal)
    this.#done ||= done
    if (reward !== undefined) this.#reward = sum(this.#reward, reward)
    this.#seen.push(...seenIn(action.calls, messages, run))
    return messages
  }

  async #runSkill(skill: Skill, call: ToolCall): Promise<Message> {
    const { task, limits, record, next } = this.#equipment
    const run = next('run')
    const done: string[] = []
    const problem = problemWith(skill.parameters, call.arguments)
    const ended: SkillRun =
      problem === null
        ? await runSkill(skill, { input: call.arguments, task }, limits, async (asked) => {
            const answer = this.#done ? over : answerOf(await this.#step({ kind: 'calls', calls: [asked] }, run))
            done.push(`${asked.name}: ${answer.content}`)
            return answer
          })
        : { output: null, error: badArguments(skill.name, problem), calls: 0 }
    const { output, error, calls } = ended
    record({ did: 'call', id: skill.id, run, calls, error: error?.code ?? null })
    return {
      role: 'tool',
      name: call.name,
      ...(call.id === undefined ? {} : { toolCallId: call.id }),
      content: error === null ? (output ?? '') : told(error, done),
      ...(error === null ? {} : { isError: true }),
    }
  }
}

const over: ToolAnswer = { content: 'The episode is over.', isError: true }

const sum = (before: number | null | undefined, more: number | null): number | null =>
  before === null || more === null ? null : (before ?? 0) + more

/** What messages answer to one call. */
const answerOf = (messages: readonly Message[]): ToolAnswer => ({
  content: messages.map(({ content }) => content).join('\n'),
  isError: messages.some((message) => message.role === 'tool' && message.isError === true),
})

/** What went wrong, and what was done before: that stands. */
const told = ({ message, hint }: SkillError, done: readonly string[]): string =>
  clipped(
    [`${message} ${hint}`, ...(done.length === 0 ? [] : ['It had called:', ...done])].join('\n'),
    skillBounds.outputBytes,
  )

/** Bytes of a call's arguments, and of its answer, that are kept. */
const mostKept = 4_096

/** Calls with their answers. Where it is not known which message answers which call, none does. */
function seenIn(calls: readonly ToolCall[], messages: readonly Message[], run: number | null): readonly SeenCall[] {
  const paired = calls.length === 1 ? [messages] : messages.map((message) => [message])
  const told = paired.length === calls.length
  return calls.map(({ name, arguments: given }, i) => {
    const answer = told ? answerOf(paired[i] ?? []) : null
    return {
      name,
      arguments: keptArguments(given),
      content: answer !== null && Buffer.byteLength(answer.content) <= mostKept ? answer.content : null,
      isError: answer?.isError ?? false,
      run,
    }
  })
}

const keptArguments = (given: Record<string, Json>) =>
  Buffer.byteLength(JSON.stringify(given)) <= mostKept ? given : null
