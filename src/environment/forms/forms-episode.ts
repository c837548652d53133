import {
  type Action,
  type Episode,
  type FinalState,
  type Message,
  printable,
  type StepOutcome,
  type Task,
  type ToolCall,
} from '../../core/index.ts'
import { type Reply, replyMessage } from '../reply.ts'
import { type Field, type Filled, problemOf } from './fields.ts'
import { rowLines } from './table.ts'
import type { FormsFinalState, FormsTaskData } from './task-data.ts'
import { formsCalls, formsTools, type FormsTool } from './tools.ts'

/** What one episode keeps count of; `errors` are calls that changed and showed nothing. */
const noCounts = { form: 0, lookup: 0, set: 0, submit: 0, talk: 0, errors: 0 }

/**
 * One form to fill in from one message. The form says what is wrong with the form of a value, and which field is empty;
 * whether a value is the right one is never told.
 */
export class FormsEpisode implements Episode {
  readonly tools = formsTools
  readonly opening: readonly Message[]
  readonly #task: Task
  readonly #data: FormsTaskData
  readonly #counts = { ...noCounts }
  #filled: Filled
  #sent = false

  constructor(task: Task, data: FormsTaskData, filled: Filled = {}) {
    this.#task = task
    this.#data = data
    this.#filled = filled
    this.opening = [{ role: 'user', content: task.instruction }]
  }

  step(action: Action): StepOutcome {
    if (action.kind === 'calls' && action.calls.length > 0) {
      const messages = action.calls.map((call) => replyMessage(call, this.#reply(call)))
      return { messages, done: this.#sent }
    }
    this.#counts.talk++
    return { messages: [{ role: 'user', content: `Call ${formsCalls.names()}.` }], done: this.#sent }
  }

  close(): FinalState {
    const { expected } = this.#data
    const state: FormsFinalState = { task: this.#task.id, sent: this.#sent, filled: this.#filled, expected }
    return { state, counts: { ...this.#counts } }
  }

  fork(): FormsEpisode {
    const copy = new FormsEpisode(this.#task, this.#data, this.#filled)
    Object.assign(copy.#counts, this.#counts)
    copy.#sent = this.#sent
    return copy
  }

  #reply({ name, arguments: given }: ToolCall): Reply {
    if (this.#sent) return this.#problem('the episode is over')
    if (!formsCalls.has(name)) return this.#problem(`no tool "${printable(name, 20)}": use ${formsCalls.names()}`)
    const read = formsCalls.read(name, given)
    if ('problem' in read) return this.#problem(read.problem)
    this.#counts[name]++
    return this.#run(name, read.text.replace(/\s+/g, ' '))
  }

  #run(name: FormsTool, text: string): Reply {
    switch (name) {
      case 'form':
        return { content: this.#data.fields.map((field) => `${field} ${this.#filled[field] ?? 'empty'}`).join('\n') }
      case 'lookup': {
        const content = rowLines(this.#data.table, text)
        return content === null
          ? this.#problem(`no "${printable(text, 20)}" in the table: give a whole name`)
          : { content }
      }
      case 'set':
        return this.#set(text)
      case 'submit':
        return this.#submit()
    }
  }

  #set(text: string): Reply {
    const [name = ''] = text.split(' ', 1)
    const field = this.#fieldOf(name)
    if (field === undefined) return this.#problem(`no field "${printable(name, 20)}": see form`)
    const value = text.slice(name.length + 1).toLowerCase()
    const problem = problemOf(field, value)
    if (problem !== null) return this.#problem(problem)
    this.#filled = { ...this.#filled, [field]: value }
    return { content: 'ok' }
  }

  #submit(): Reply {
    const empty = this.#data.fields.find((field) => this.#filled[field] === undefined)
    if (empty !== undefined) return this.#problem(`${empty} is empty`)
    this.#sent = true
    return { content: 'sent' }
  }

  #fieldOf(name: string): Field | undefined {
    return this.#data.fields.find((field) => field === name.toLowerCase())
  }

  #problem(content: string): Reply {
    this.#counts.errors++
    return { content, isError: true }
  }
}
