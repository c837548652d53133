import type { Rng } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { carryOut } from './acts.ts'
import { Explorer } from './explorer.ts'
import { type Container, Colour, type House, keyOf, type Room, roomOf } from './house.ts'
import type { HouseRequest, HouseTaskData } from './task-data.ts'
import { containerNames, type HouseWords, qualities, root } from './words.ts'

/** Tasks of more calls are not drawn. */
const longest = 14

/** A task as drawn, and how many calls an explorer needs for it. */
export interface Drawn {
  readonly data: HouseTaskData
  readonly calls: number
}

/**
 * Draws a house with a task of a kind and of about so many calls in it; `null` where the draw is no good: nobody could do it by what is told and
 * seen. Beside the thing lies another of the same noun, and a container of the same name stands in another room.
 */
export function drawTask(kind: HouseRequest['kind'], calls: number, words: HouseWords, random: Rng): Drawn | null {
  const rooms = drawRooms(words, random)
  const names = Object.keys(rooms)
  const from = pick(names, random)
  const to = pick(names, random)
  if (from === to ? kind === 'bring' || to !== root : kind === 'bring' && to === root) return null
  if (kind === 'find' && from === root) return null

  const [box, source] = random.shuffle(containerNames) as [string, string]
  const target = kind === 'bring' ? to : `${to}/${box}`
  const start = kind === 'unpack' ? `${from}/${source}` : from
  const twin =
    from === to
      ? pick(
          names.filter((name) => name !== to),
          random,
        )
      : from
  const containers = drawContainers(
    [...(kind === 'bring' ? [] : [target]), ...(kind === 'unpack' ? [start] : []), `${twin}/${box}`],
    random,
  )
  const items = drawItems(start, names, words, random)
  const [item] = Object.keys(items) as [string]

  const lockable = random.shuffle([...new Set([target, start, to, from])].filter((place) => place !== root))
  const colours = random.shuffle(Colour.options)
  for (const [at, place] of lockable.slice(0, locksFor(calls, random)).entries()) {
    const locked = present(colours[at], 'a colour')
    if (place in containers) containers[place] = { open: false, locked }
    else rooms[place] = { ...present(rooms[place], 'a room'), locked }
    items[keyOf(locked)] = pick(names, random)
  }
  const house: House = { at: root, rooms, containers: shuffled(containers, random), items: shuffled(items, random) }
  const request: HouseRequest = { kind, item, from: kind === 'find' ? null : start, to: target }
  return solved({ house, goals: { [item]: target }, opens: [], request })
}

/** Every lock takes calls: the key is to be found. */
function locksFor(calls: number, random: Rng): number {
  if (calls < 7) return 0
  return calls > 11 ? 2 : random.int(3)
}

/** Three or four rooms behind the first one, or the last of them behind another. */
function drawRooms(words: HouseWords, random: Rng): Record<string, Room> {
  const names = random.shuffle(words.rooms).slice(0, 3 + random.int(2))
  const nested = random.int(2) === 0
  const rooms = names.map((name, at): [string, Room] => {
    const behind = nested && at === names.length - 1 ? present(names[random.int(at)], 'a room') : root
    return [name, { behind, locked: null }]
  })
  return { [root]: { behind: null, locked: null }, ...Object.fromEntries(rooms) }
}

function drawContainers(places: readonly string[], random: Rng): Record<string, Container> {
  return Object.fromEntries(places.map((place) => [place, { open: random.int(2) === 0, locked: null }]))
}

/** The thing, one of the same noun and one of the same quality, most of the time where one looks first. */
function drawItems(start: string, rooms: readonly string[], words: HouseWords, random: Rng): Record<string, string> {
  const [noun, otherNoun] = random.shuffle(words.nouns) as [string, string]
  const [quality, otherQuality] = random.shuffle(qualities) as [string, string]
  const inTheWay = () => pick([root, root, roomOf(start), roomOf(start), pick(rooms, random)], random)
  return {
    [`${quality} ${noun}`]: start,
    [`${otherQuality} ${noun}`]: inTheWay(),
    [`${quality} ${otherNoun}`]: inTheWay(),
  }
}

/** The task with what has to be opened for it, and how long it takes; `null` where an explorer does not succeed. */
function solved(data: HouseTaskData): Drawn | null {
  const mind = new Explorer(data.request)
  let house = data.house
  for (let calls = 1; calls <= longest; calls++) {
    const step = mind.next()
    const outcome = step.tool === 'done' ? null : carryOut(step.tool, step.text ?? '', house)
    if (outcome === null)
      return areReached(data.goals, house) ? { data: { ...data, opens: openedIn(data.house, house) }, calls } : null
    if ('problem' in outcome) return null
    house = outcome.house
    mind.see(step, outcome.shown)
  }
  return null
}

function areReached(goals: HouseTaskData['goals'], { items }: House): boolean {
  return Object.entries(goals).every(([item, place]) => items[item] === place)
}

function openedIn(before: House, after: House): string[] {
  const containers = Object.keys(after.containers).filter(
    (place) => after.containers[place]?.open !== before.containers[place]?.open,
  )
  const rooms = Object.keys(after.rooms).filter((name) => after.rooms[name]?.locked !== before.rooms[name]?.locked)
  return [...rooms, ...containers]
}

const pick = <T>(all: readonly T[], random: Rng): T => present(all[random.int(all.length)], 'one of them')

const shuffled = <T>(entries: Readonly<Record<string, T>>, random: Rng): Record<string, T> =>
  Object.fromEntries(random.shuffle(Object.entries(entries)))
