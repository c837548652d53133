import { printable } from '../../core/index.ts'
import { entry } from '../entry.ts'
import { carried, type House, isKey, keyOf, roomOf } from './house.ts'
import type { HouseTool } from './tools.ts'
import { containerLines, roomLines } from './views.ts'

/** What an act comes to: what is seen and the house after it, or what is wrong in words that teach. */
export type Outcome = { readonly shown: string; readonly house: House } | { readonly problem: string }

/** What can be done in a house. */
export type HouseAct = Exclude<HouseTool, 'done'>

/** Does one act. */
export function carryOut(act: HouseAct, text: string, house: House): Outcome {
  switch (act) {
    case 'look':
      return { shown: roomLines(house), house }
    case 'go':
      return go(house, text)
    case 'take':
      return take(house, text)
    case 'open':
      return open(house, text)
    case 'unlock':
      return unlock(house, text)
    case 'put':
      return putIn(house, text)
  }
}

/** Goes through a door of this room, and sees the room behind it. */
function go(house: House, room: string): Outcome {
  const { rooms, at } = house
  const next = entry(rooms, room)
  if (next === undefined || !isNeighbour(house, room)) return { problem: `no exit "${shown(room)}" here: look` }
  if (next.behind === at && next.locked !== null) return { problem: `${room} is locked: unlock ${room}` }
  const moved = { ...house, at: room }
  return { shown: roomLines(moved), house: moved }
}

/** Takes a thing that lies here, or that an open container here holds. */
function take(house: House, item: string): Outcome {
  const place = entry(house.items, item)
  const inSight =
    place !== undefined && roomOf(place) === house.at && (place === house.at || house.containers[place]?.open === true)
  // The same words whether there is such a thing or not: an error never says what a look would have to find.
  if (!inSight) return { problem: `no "${shown(item)}" in sight: open or go on` }
  return { shown: 'taken', house: put(house, item, carried) }
}

/** Opens a container of this room, and sees what it holds. */
function open(house: House, name: string): Outcome {
  const place = `${house.at}/${name}`
  const container = entry(house.containers, place)
  if (container === undefined) return { problem: `no "${shown(name)}" to open here: look` }
  if (container.locked !== null) return { problem: `${name} is locked: unlock ${name}` }
  if (container.open) return { problem: `${name} is open` }
  const opened = { ...house, containers: { ...house.containers, [place]: { ...container, open: true } } }
  return { shown: containerLines(opened, place).join('\n'), house: opened }
}

/** Unlocks a container of this room, or a door to a room behind this one, with the key that it needs. */
function unlock(house: House, name: string): Outcome {
  const { at, rooms, containers, items } = house
  const place = `${at}/${name}`
  const container = entry(containers, place)
  const room = entry(rooms, name)
  const door = room?.behind === at ? room : undefined
  const lock = container ?? door
  if (lock === undefined) return { problem: `no "${shown(name)}" to unlock here: look` }
  if (lock.locked === null) return { problem: `${name} is not locked` }
  const key = keyOf(lock.locked)
  if (entry(items, key) !== carried) return { problem: `${name} needs the ${key}` }
  return {
    shown: 'unlocked',
    house:
      container === undefined
        ? { ...house, rooms: { ...rooms, ...(door && { [name]: { ...door, locked: null } }) } }
        : { ...house, containers: { ...containers, [place]: { ...container, locked: null } } },
  }
}

/** Puts a carried thing into an open container of this room, or onto its floor: `ITEM in CONTAINER`, `ITEM in ROOM`. */
function putIn(house: House, words: string): Outcome {
  const [, item, name] = /^(.+) in (.+)$/.exec(words) ?? []
  if (item === undefined || name === undefined) return { problem: 'put takes ITEM in PLACE' }
  if (entry(house.items, item) !== carried) return { problem: `you have no "${shown(item)}": take it` }
  const place = name === house.at ? name : `${house.at}/${name}`
  const container = entry(house.containers, place)
  if (name !== house.at && container === undefined) return { problem: `no "${shown(name)}" here: look` }
  if (container?.open === false) return { problem: `${name} is closed: open ${name}` }
  return { shown: 'put', house: put(house, item, place) }
}

/** Things that are not where they were, keys and `wanted` ones left out. */
export function displaced(before: House, after: House, wanted: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(before.items).filter(
    (item) => !isKey(item) && !Object.hasOwn(wanted, item) && entry(after.items, item) !== before.items[item],
  )
}

const put = (house: House, item: string, place: string): House => ({
  ...house,
  items: { ...house.items, [item]: place },
})

function isNeighbour({ rooms, at }: House, room: string): boolean {
  return entry(rooms, at)?.behind === room || entry(rooms, room)?.behind === at
}

const shown = (name: string) => printable(name, 20)
