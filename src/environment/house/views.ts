import { entry } from '../entry.ts'
import { Colour, type House, roomOf } from './house.ts'

/**
 * What the agent sees where it is, a fact a line, what it is before its name: `room hall`, `exit kitchen to cellar`,
 * `exit attic locked red`, `chest closed`, `box holds brass cup`, `item tin lamp`.
 */
export function roomLines(house: House): string {
  const { at, containers, items } = house
  const here = Object.keys(containers).filter((place) => roomOf(place) === at)
  const lying = Object.keys(items).filter((item) => items[item] === at)
  return [
    `room ${at}`,
    ...exitLines(house),
    ...here.flatMap((place) => containerLines(house, place)),
    ...lying.map((item) => `item ${item}`),
  ].join('\n')
}

/** The way back first, then the rooms behind this one. */
function exitLines({ at, rooms }: House): string[] {
  const back = entry(rooms, at)?.behind ?? null
  const behind = (room: string) => Object.keys(rooms).filter((each) => rooms[each]?.behind === room)
  const further = behind(at).map((room) => {
    const locked = rooms[room]?.locked
    const beyond = behind(room)
    if (locked) return `exit ${room} locked ${locked}`
    return `exit ${room}${beyond.length === 0 ? '' : ` to ${beyond.join(' ')}`}`
  })
  return [...(back === null ? [] : [`exit ${back}`]), ...further]
}

/** What a container shows: `chest locked red`, `chest closed`, `chest empty`, or a line for each thing in it. */
export function containerLines({ containers, items }: House, place: string): string[] {
  const name = place.slice(roomOf(place).length + 1)
  const container = entry(containers, place)
  if (container === undefined) return []
  if (container.locked !== null) return [`${name} locked ${container.locked}`]
  if (!container.open) return [`${name} closed`]
  const held = Object.keys(items).filter((item) => items[item] === place)
  return held.length === 0 ? [`${name} empty`] : held.map((item) => `${name} holds ${item}`)
}

/** An exit as it was seen. */
export interface ExitView {
  readonly locked: Colour | null
  /** A room that lies behind it. */
  readonly beyond: string | null
}

/** A container as it was seen. */
export interface ContainerView {
  readonly state: 'locked' | 'closed' | 'open'
  readonly locked: Colour | null
  readonly holds: readonly string[]
}

/** A room as it was seen. */
export interface RoomView {
  readonly name: string
  readonly exits: ReadonlyMap<string, ExitView>
  readonly containers: ReadonlyMap<string, ContainerView>
  readonly lying: readonly string[]
}

const line =
  /^(?:room (?<room>.+)|exit (?<exit>[a-z]+)(?: to (?<beyond>[a-z]+))?(?: locked (?<lock>[a-z]+))?|item (?<item>.+)|(?<name>[a-z]+) (?:locked (?<key>[a-z]+)|(?<plain>closed|empty)|holds (?<held>.+)))$/

/** Reads what {@link roomLines} or {@link containerLines} wrote, as a script does; `null` for a text without a room. */
export function readRoom(text: string): RoomView | null {
  let name: string | null = null
  const exits = new Map<string, ExitView>()
  const containers = new Map<string, ContainerView>()
  const lying: string[] = []
  for (const each of text.split('\n')) {
    const { room, exit, beyond, lock, item, name: container, key, plain, held } = line.exec(each)?.groups ?? {}
    if (room !== undefined) name = room
    if (exit !== undefined) exits.set(exit, { locked: readColour(lock), beyond: beyond ?? null })
    if (item !== undefined) lying.push(item)
    if (container === undefined) continue
    const before = containers.get(container)?.holds ?? []
    containers.set(container, {
      state: key !== undefined ? 'locked' : plain === 'closed' ? 'closed' : 'open',
      locked: readColour(key),
      holds: held === undefined ? before : [...before, held],
    })
  }
  return name === null ? null : { name, exits, containers, lying }
}

const readColour = (text: string | undefined): Colour | null => Colour.safeParse(text).data ?? null
