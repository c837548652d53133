import { z } from 'zod'

/** Lower-case words with single spaces between them, at most 40 characters. */
const Name = z
  .string()
  .max(40)
  .regex(/^[a-z]+( [a-z]+)*$/, 'must be lower-case words')

/** `ROOM` for its floor, `ROOM/CONTAINER`, or {@link carried}. */
const Place = z
  .string()
  .max(80)
  .regex(/^[a-z]+( [a-z]+)*(\/[a-z]+( [a-z]+)*)?$/, 'must be ROOM or ROOM/CONTAINER')

/** Where things are that the agent has with it. No room has this name. */
export const carried = 'you'

/** Colours of keys and of what they unlock. */
export const Colour = z.enum(['red', 'green', 'blue', 'black', 'white'])
export type Colour = z.infer<typeof Colour>

/** A room, and the door that leads into it. */
const Room = z.strictObject({
  /** The room on the other side of its door; `null` for the one room that all others lie behind. */
  behind: Name.nullable(),
  /** The colour of the key that its door needs; `null` while the door is not locked. */
  locked: Colour.nullable(),
})
export type Room = z.infer<typeof Room>

/** Something that things can be put into. */
const Container = z
  .strictObject({
    open: z.boolean(),
    /** The colour of the key that it needs; `null` while it is not locked. */
    locked: Colour.nullable(),
  })
  .refine(({ open, locked }) => !open || locked === null, 'what is open must not be locked')
export type Container = z.infer<typeof Container>

/** A house and where its things are, the agent included. Never changed in place. */
export const House = z
  .strictObject({
    /** The room that the agent is in. */
    at: Name,
    rooms: z.record(Name, Room),
    /** By `ROOM/NAME`. */
    containers: z.record(Place, Container),
    /** Where each thing is. Keys are things, as `red key`. */
    items: z.record(Name, Place),
  })
  .refine(({ rooms }) => !Object.hasOwn(rooms, carried), `no room may be called ${carried}`)
  .refine(({ rooms, at }) => Object.hasOwn(rooms, at), 'at must be among the rooms')
  .refine(
    ({ rooms }) => Object.values(rooms).every(({ behind }) => behind === null || Object.hasOwn(rooms, behind)),
    'every room must be behind one of the rooms',
  )
  .refine(
    ({ rooms, containers }) => Object.keys(containers).every((place) => Object.hasOwn(rooms, roomOf(place))),
    'every container must be in one of the rooms',
  )
  .refine(
    (house) => Object.values(house.items).every((place) => isPlace(house, place)),
    'every thing must be somewhere',
  )
export type House = z.infer<typeof House>

/** The room of a place. */
export function roomOf(place: string): string {
  return place.split('/', 1)[0] ?? place
}

/** Whether a thing can be there. */
export function isPlace(
  { rooms, containers }: { readonly rooms: object; readonly containers: object },
  place: string,
): boolean {
  return place === carried || Object.hasOwn(rooms, place) || Object.hasOwn(containers, place)
}

/** The name of the key of a colour. */
export function keyOf(colour: Colour): string {
  return `${colour} key`
}

/** Whether a thing is a key. */
export function isKey(item: string): boolean {
  return Colour.options.some((colour) => keyOf(colour) === item)
}
