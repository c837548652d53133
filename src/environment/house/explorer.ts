import { present } from '../../errors/index.ts'
import { isKey, keyOf, roomOf, type Colour } from './house.ts'
import type { HouseRequest } from './task-data.ts'
import type { HouseTool } from './tools.ts'
import { type ContainerView, type ExitView, readRoom, type RoomView } from './views.ts'

/** One call to make. */
export interface Step {
  readonly tool: HouseTool
  readonly text?: string
}

/** What an explorer does at the decisions of a task. */
export interface Habits {
  /** Whether a thing in sight is the one to take. */
  readonly takes: (item: string, request: HouseRequest) => boolean
  /** Whether it puts the thing into any container of the right name, or on any floor, whatever the room. */
  readonly anyRoom: boolean
}

/** Takes what it was told to, and puts it where it was told to. */
export const careful: Habits = { takes: (item, request) => item === request.item, anyRoom: false }

/**
 * Does a task by what the instruction says and what it has seen, and by nothing else. Keys are taken wherever they are in
 * sight; what is not known is looked for, the nearest room first, in the order in which exits are listed.
 */
export class Explorer {
  readonly #request: HouseRequest
  readonly #habits: Habits
  readonly #rooms = new Map<string, RoomView>()
  /** The room before each, on the way from the first. */
  readonly #before = new Map<string, string>()
  readonly #held = new Set<string>()
  #at: string | null = null
  /** Nothing is left to do, or nothing more can be. */
  #over = false

  constructor(request: HouseRequest, habits: Habits = careful) {
    this.#request = request
    this.#habits = habits
  }

  /** What to do next. */
  next(): Step {
    if (this.#over) return { tool: 'done' }
    const here = this.#here()
    if (here === null) return { tool: 'look' }
    const key = inSight(here).find(isKey)
    if (key !== undefined) return { tool: 'take', text: key }
    const item = [...this.#held].find((each) => !isKey(each))
    return (item === undefined ? this.#fetch(here) : this.#bring(here, item)) ?? { tool: 'done' }
  }

  /** Learns from what came back after a step. */
  see({ tool, text = '' }: Step, shown: string): void {
    const here = this.#here()
    if (tool === 'look' || tool === 'go') return this.#enter(shown)
    if (here === null || tool === 'done') return
    const { lying, containers } = here
    if (tool === 'take') {
      this.#held.add(text)
      const left = [...containers].map(([name, view]): [string, ContainerView] => [
        name,
        { ...view, holds: view.holds.filter((each) => each !== text) },
      ])
      this.#rooms.set(here.name, {
        ...here,
        lying: lying.filter((each) => each !== text),
        containers: new Map(left),
      })
    } else if (tool === 'open') {
      const opened = readRoom(`room ${here.name}\n${shown}`)?.containers ?? []
      this.#rooms.set(here.name, { ...here, containers: new Map([...containers, ...opened]) })
    } else if (tool === 'unlock') this.#rooms.set(here.name, unlocked(here, text))
    else this.#over = true
  }

  #here(): RoomView | null {
    return this.#at === null ? null : (this.#rooms.get(this.#at) ?? null)
  }

  #enter(shown: string): void {
    const view = readRoom(shown)
    if (view === null) {
      this.#over = true
      return
    }
    if (this.#at !== null && !this.#rooms.has(view.name)) this.#before.set(view.name, this.#at)
    this.#rooms.set(view.name, view)
    this.#at = view.name
  }

  #fetch(here: RoomView): Step | null {
    const takes = (item: string) => this.#habits.takes(item, this.#request)
    const item = inSight(here).find(takes)
    if (item !== undefined) return { tool: 'take', text: item }
    const seen = [...this.#rooms.values()].find((room) => inSight(room).some(takes))?.name
    const from = seen ?? this.#request.from
    if (from === null) return this.#explore(here)
    if (roomOf(from) !== here.name) return this.#toward(roomOf(from), here)
    const container = here.containers.get(nameOf(from))
    return (container && this.#opened(nameOf(from), container, here)) ?? this.#explore(here)
  }

  #bring(here: RoomView, item: string): Step | null {
    const { to } = this.#request
    const name = nameOf(to)
    const container = here.containers.get(name)
    const isFloor = to === roomOf(to)
    const anyPlace = this.#habits.anyRoom && (isFloor || container !== undefined)
    if (here.name !== roomOf(to) && !anyPlace) return this.#toward(roomOf(to), here)
    const down: Step = { tool: 'put', text: `${item} in ${isFloor ? here.name : name}` }
    return (container && this.#opened(name, container, here)) ?? down
  }

  /** What has to be done before a container is open; `null` when it is. */
  #opened(name: string, { state, locked }: ContainerView, here: RoomView): Step | null {
    if (state === 'open') return null
    return locked === null ? { tool: 'open', text: name } : this.#unlock(name, locked, here)
  }

  #unlock(name: string, colour: Colour, here: RoomView): Step | null {
    return this.#held.has(keyOf(colour)) ? { tool: 'unlock', text: name } : this.#explore(here)
  }

  #through(name: string, { locked }: ExitView, here: RoomView): Step | null {
    return locked === null ? { tool: 'go', text: name } : this.#unlock(name, locked, here)
  }

  #toward(room: string, here: RoomView): Step | null {
    const past = this.#before.get(room)
    const next = [...here.exits].find(([name, exit]) => name === room || exit.beyond === room || name === past)
    if (next !== undefined) return this.#through(...next, here)
    const back = this.#before.get(here.name)
    return back === undefined ? this.#explore(here) : { tool: 'go', text: back }
  }

  /** Goes on to a room that it has not seen. */
  #explore(here: RoomView): Step | null {
    const next = [...here.exits].find(([name, exit]) => this.#promises(name, exit))
    if (next !== undefined) return this.#through(...next, here)
    const back = this.#before.get(here.name)
    return back === undefined ? null : { tool: 'go', text: back }
  }

  /** Whether a room that was not seen can be reached through this exit, other than by going back. */
  #promises(name: string, { locked }: ExitView): boolean {
    const seen = this.#rooms.get(name)
    if (seen === undefined) return locked === null || this.#held.has(keyOf(locked))
    if (this.#before.get(name) !== this.#at) return false
    return [...seen.exits].some(([further, exit]) => further !== this.#at && this.#unseen(further, exit))
  }

  #unseen(name: string, { locked }: ExitView): boolean {
    return !this.#rooms.has(name) && (locked === null || this.#held.has(keyOf(locked)))
  }
}

/** What can be taken in a room. */
export function inSight({ lying, containers }: RoomView): readonly string[] {
  return [...lying, ...[...containers.values()].flatMap(({ holds }) => holds)]
}

const nameOf = (place: string): string => present(place.split('/').at(-1), 'a name')

function unlocked(room: RoomView, name: string): RoomView {
  const exits = new Map(room.exits)
  const exit = exits.get(name)
  if (exit) exits.set(name, { ...exit, locked: null })
  const containers = new Map(room.containers)
  const container = containers.get(name)
  if (container) containers.set(name, { ...container, state: 'closed', locked: null })
  return { ...room, exits, containers }
}
