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
import { replyMessage } from '../reply.ts'
import { FileSystem } from './file-system.ts'
import type { Read } from './path.ts'
import type { FilesFinalState, FilesTaskData } from './task-data.ts'
import { fileTools, type FileTool, isFileTool, readPair, readText } from './tools.ts'

const toolNames = 'list, read, move, copy, write, delete or done'

/** What one episode keeps count of; `errors` are calls that changed and showed nothing. */
const noCounts = { list: 0, read: 0, move: 0, copy: 0, write: 0, delete: 0, done: 0, talk: 0, errors: 0 }

/**
 * One job over files in memory. Tools look at files and change them, `done` ends the job; what counts is how the files
 * are then. Whatever the policy does wrong comes back as an observation that says what to do instead.
 */
export class FilesEpisode implements Episode {
  readonly tools = fileTools
  readonly opening: readonly Message[]
  readonly #task: Task
  readonly #data: FilesTaskData
  readonly #disk: FileSystem
  readonly #counts = { ...noCounts }
  #done = false

  constructor(task: Task, data: FilesTaskData, files = data.files) {
    this.#task = task
    this.#data = data
    this.#disk = new FileSystem(files)
    this.opening = [{ role: 'user', content: task.instruction }]
  }

  step(action: Action): StepOutcome {
    if (action.kind === 'calls' && action.calls.length > 0) {
      const messages = action.calls.map((call) => this.#respond(call))
      return { messages, done: this.#done }
    }
    this.#counts.talk++
    return { messages: [{ role: 'user', content: `Call ${toolNames}.` }], done: this.#done }
  }

  close(): FinalState {
    const { files: before, changes } = this.#data
    const state: FilesFinalState = { task: this.#task.id, done: this.#done, before, files: this.#disk.files(), changes }
    return { state, counts: { ...this.#counts } }
  }

  fork(): FilesEpisode {
    const copy = new FilesEpisode(this.#task, this.#data, this.#disk.files())
    Object.assign(copy.#counts, this.#counts)
    copy.#done = this.#done
    return copy
  }

  #respond(call: ToolCall): Message {
    const shown = this.#call(call)
    if ('problem' in shown) this.#counts.errors++
    return replyMessage(call, 'problem' in shown ? { content: shown.problem, isError: true } : { content: shown.value })
  }

  #call({ name, arguments: given }: ToolCall): Read<string> {
    if (this.#done) return { problem: 'the episode is over' }
    if (!isFileTool(name)) return { problem: `no tool "${printable(name, 20)}": use ${toolNames}` }
    const text = readText(name, given)
    if ('problem' in text) return text
    this.#counts[name]++
    return this.#run(name, text.value)
  }

  #run(name: FileTool, text: string): Read<string> {
    switch (name) {
      case 'list':
      case 'read':
      case 'delete':
        return this.#disk[name](text)
      case 'move':
      case 'copy':
      case 'write': {
        const pair = readPair(name, text)
        return 'problem' in pair ? pair : this.#disk[name](...pair.value)
      }
      case 'done':
        this.#done = true
        return { value: 'done' }
    }
  }
}
