import { StringTools } from '../string-tools.ts'

/** The tools of a house. Each takes one string, `look` and `done` none. */
export type HouseTool = 'look' | 'go' | 'take' | 'open' | 'unlock' | 'put' | 'done'

/** How calls are declared and read. An argument has at most 80 characters: two names and `in`. */
export const houseCalls = new StringTools<HouseTool>(
  {
    look: { does: 'Shows the room.', takes: null },
    go: { does: 'Goes to the next room and shows it.', takes: 'room' },
    take: { does: 'Takes a thing in sight.', takes: 'item' },
    open: { does: 'Opens a container and shows what it holds.', takes: 'container' },
    unlock: { does: 'Unlocks a container or a door with the key of its colour.', takes: 'lock' },
    put: { does: 'ITEM in PLACE: puts a thing into a container, or down in the room.', takes: 'words' },
    done: { does: 'Ends the task.', takes: null },
  },
  80,
)

/** As the policy sees them. */
export const houseTools = houseCalls.definitions
