import { describe, expect, it } from 'vitest'
import { play } from '../play.ts'
import { worldConformance } from '../world.conformance.ts'
import { isKey, roomOf } from './house.ts'
import { loadHouse } from './load.ts'
import {
  houseAnyRoom,
  houseExpert,
  houseFirstThing,
  houseRandom,
  houseStayAtHome,
  houseWrongThing,
} from './policies.ts'
import { HouseFinalState, readHouseTask } from './task-data.ts'
import { houseProgress, houseVerify } from './verify.ts'
import { root } from './words.ts'

const world = loadHouse()
const { environment, tasks } = world

worldConformance({
  world,
  load: loadHouse,
  expert: houseExpert,
  check: houseVerify,
  calls: { short: [4, 8], long: [9, 14] },
  careless: [
    ['the first thing in sight', houseFirstThing, 0.3],
    ['another thing of the same noun', houseWrongThing, 0],
    ['a container of the same name in any room', houseAnyRoom, 0.25],
    ['never leaving the first room', houseStayAtHome, 0.1],
    ['anything', houseRandom(0), 0.05],
  ],
  namesIn: (task) => {
    const { rooms, items } = readHouseTask(task).house
    const nouns = Object.keys(items).flatMap((item) => (isKey(item) ? [] : [item.split(' ').at(-1)!]))
    return [...Object.keys(rooms).filter((room) => room !== root), ...nouns]
  },
  words: ['hall', 'chest', 'box', 'trunk', 'in', 'red', 'key', 'brass', 'lamp', 'book', 'study', 'museum', 'cave'],
  finalState: HouseFinalState,
})

describe('the houses', () => {
  it('have what would be taken for the right thing and the right place, and locks in a good part of the long tasks', () => {
    for (const task of tasks.train) {
      const { house, request } = readHouseTask(task)
      const noun = request.item.split(' ').at(-1)
      const others = Object.keys(house.items).filter((item) => item !== request.item)
      expect(others.filter((item) => item.split(' ').at(-1) === noun)).toHaveLength(1)
      const [room, box] = request.to.split('/')
      const boxes = Object.keys(house.containers).filter((place) => place !== request.to && place.endsWith(`/${box}`))
      if (box !== undefined) expect(boxes.filter((place) => roomOf(place) !== room)).toHaveLength(1)
      expect(others.filter((item) => item.split(' ')[0] === request.item.split(' ')[0])).toHaveLength(1)
    }
    const locked = tasks.train.filter((task) => Object.keys(readHouseTask(task).house.items).some(isKey))
    expect(locked.filter(({ tier }) => tier === 'long').length).toBeGreaterThan(200)
  })

  it('are told of as far as the instruction says: item and rooms verbatim, after a space or at the start', () => {
    for (const task of [...tasks.train, ...tasks.holdout]) {
      const { item, from, to } = readHouseTask(task).request
      for (const name of [item, roomOf(to), ...(from === null ? [] : [roomOf(from)])])
        expect(task.instruction).toContain(` ${name}`)
      expect(task.instruction).not.toContain('key')
    }
  })

  it('come further the more is done right, and the expert never goes back', async () => {
    for (const task of tasks.validation) {
      const { actions } = await play(environment, houseExpert, task, houseVerify)
      const episode = environment.open(task, 0)
      const progress = [houseProgress(episode.close())]
      for (const action of actions) {
        episode.step(action)
        progress.push(houseProgress(episode.close()))
      }
      expect(progress).toEqual(progress.toSorted((a, b) => a - b))
      expect([progress[0], progress.at(-1)]).toEqual([0, 1])
      expect(new Set(progress).size).toBeGreaterThanOrEqual(4)
      expect(progress.slice(0, -1).every((each) => each < 1)).toBe(true)
    }
  })
})
