import { rng } from '../../core/index.ts'
import { call, type Policy } from '../play.ts'
import { careful, Explorer, type Habits, inSight, type Step } from './explorer.ts'
import { readHouseTask } from './task-data.ts'
import { houseCalls } from './tools.ts'
import { readRoom } from './views.ts'

/** More steps than any task takes: whoever is still walking then has lost the way. */
const longestWalk = 40

/** Knows what the instruction says; all else it sees. For demonstrations. */
export const houseExpert: Policy = explorer(careful)

/** Takes the first thing in sight, whatever it is. */
export const houseFirstThing: Policy = explorer({ ...careful, takes: () => true })

/** Takes another thing of the same noun where there is one: reads `lamp`, and not which. */
export const houseWrongThing: Policy = explorer({
  ...careful,
  takes: (item, request) => item !== request.item && item.split(' ').at(-1) === request.item.split(' ').at(-1),
})

/** Puts the thing into the first container of the right name: reads `chest`, and not in which room. */
export const houseAnyRoom: Policy = explorer({ ...careful, anyRoom: true })

/** Never leaves the first room: takes the thing if it is there, and puts it into whatever is open. */
export const houseStayAtHome: Policy = async (episode, task) => {
  const { item } = readHouseTask(task).request
  const room = readRoom(await call(episode, 'look', {}))
  const open = [...(room?.containers ?? [])].find(([, { state }]) => state === 'open')?.[0]
  await use(episode, { tool: 'take', text: item })
  await use(episode, { tool: 'put', text: `${item} in ${open ?? room?.name ?? ''}` })
  await use(episode, { tool: 'done' })
}

/** Does anything that can be done, 14 times; another seed, other things. */
export function houseRandom(seed: number): Policy {
  return async (episode, task) => {
    const random = rng('house-random', seed, task.id)
    const held: string[] = []
    for (let calls = 0; calls < 14; calls += 2) {
      const room = readRoom(await call(episode, 'look', {}))
      if (room === null) break
      const steps: Step[] = [
        ...[...room.exits].map(([text, { locked }]): Step => ({ tool: locked === null ? 'go' : 'unlock', text })),
        ...[...room.containers].flatMap(([text, { state }]): Step[] =>
          state === 'open' ? [] : [{ tool: state === 'locked' ? 'unlock' : 'open', text }],
        ),
        ...inSight(room).map((text): Step => ({ tool: 'take', text })),
        ...held.flatMap((item) =>
          [room.name, ...room.containers.keys()].map((place): Step => ({ tool: 'put', text: `${item} in ${place}` })),
        ),
      ]
      const step = steps[random.int(steps.length)]
      if (step === undefined) break
      const shown = await use(episode, step)
      if (shown === 'taken') held.push(step.text ?? '')
    }
    await use(episode, { tool: 'done' })
  }
}

function explorer(habits: Habits): Policy {
  return async (episode, task) => {
    const mind = new Explorer(readHouseTask(task).request, habits)
    for (let step = mind.next(), steps = 1; ; step = mind.next(), steps++) {
      const last: Step = steps < longestWalk ? step : { tool: 'done' }
      const shown = await use(episode, last)
      if (last.tool === 'done') return
      mind.see(last, shown)
    }
  }
}

const use = (episode: Parameters<Policy>[0], { tool, text }: Step) =>
  call(episode, tool, houseCalls.argumentsOf(tool, text))
