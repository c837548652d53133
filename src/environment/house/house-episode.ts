import type { Action, Episode, FinalState, Message, StepOutcome, Task, ToolCall } from '../../core/index.ts'
import { printable } from '../../core/index.ts'
import { type Reply, replyMessage } from '../reply.ts'
import { carryOut, type Outcome } from './acts.ts'
import type { House } from './house.ts'
import type { HouseFinalState, HouseTaskData } from './task-data.ts'
import { houseCalls, houseTools } from './tools.ts'

/** What one episode keeps count of; `errors` are calls that changed and showed nothing. */
const noCounts = { look: 0, go: 0, take: 0, open: 0, unlock: 0, put: 0, done: 0, talk: 0, errors: 0 }

/**
 * One task in a house. Tools look and act where the agent is, `done` ends the task; what counts is where things are then.
 * Whatever the policy does wrong comes back as an observation that says what to do instead.
 */
export class HouseEpisode implements Episode {
  readonly tools = houseTools
  readonly opening: readonly Message[]
  readonly #task: Task
  readonly #data: HouseTaskData
  readonly #counts = { ...noCounts }
  #house: House
  #done = false

  constructor(task: Task, data: HouseTaskData, house = data.house) {
    this.#task = task
    this.#data = data
    this.#house = house
    this.opening = [{ role: 'user', content: task.instruction }]
  }

  step(action: Action): StepOutcome {
    if (action.kind === 'calls' && action.calls.length > 0) {
      const messages = action.calls.map((call) => replyMessage(call, this.#reply(call)))
      return { messages, done: this.#done }
    }
    this.#counts.talk++
    return { messages: [{ role: 'user', content: `Call ${houseCalls.names()}.` }], done: this.#done }
  }

  close(): FinalState {
    const { house: before, goals, opens } = this.#data
    const state: HouseFinalState = {
      task: this.#task.id,
      done: this.#done,
      before,
      after: this.#house,
      goals,
      opens,
    }
    return { state, counts: { ...this.#counts } }
  }

  fork(): HouseEpisode {
    const copy = new HouseEpisode(this.#task, this.#data, this.#house)
    Object.assign(copy.#counts, this.#counts)
    copy.#done = this.#done
    return copy
  }

  #reply({ name, arguments: given }: ToolCall): Reply {
    const outcome = this.#call(name, given)
    if ('problem' in outcome) {
      this.#counts.errors++
      return { content: outcome.problem, isError: true }
    }
    this.#house = outcome.house
    return { content: outcome.shown }
  }

  #call(name: string, given: unknown): Outcome {
    if (this.#done) return { problem: 'the episode is over' }
    if (!houseCalls.has(name)) return { problem: `no tool "${printable(name, 20)}": use ${houseCalls.names()}` }
    const read = houseCalls.read(name, given)
    if ('problem' in read) return read
    this.#counts[name]++
    const text = read.text.toLowerCase().replace(/\s+/g, ' ')
    if (name !== 'done') return carryOut(name, text, this.#house)
    this.#done = true
    return { shown: 'done', house: this.#house }
  }
}
