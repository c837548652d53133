// A hotel front desk. A colleague passes on what a guest wants; the agent finds the stay, acts, and closes the case.
//
// House rules. No prompt and no tool states them:
//  1. Cancelling with fewer days left than `free` says costs a night (charge it, then cancel), but never for gold guests.
//  2. Noise: to a clean room of the same type; if none is clean, to a clean suite. Gold guests go to a clean suite at once. Free.
//  3. A better room: to a clean suite, and `upgrade` is charged, but not to gold guests. No clean suite: nothing is done.
//  4. Late check-out: charge `late` (gold guests, too). If the room is taken tonight, they move to a clean room of the same
//     type instead, and pay nothing.
import { rng, Task } from 'ratchet-agents'
import { call } from 'ratchet-agents/environment'
import { z } from 'zod'
const Type = z.enum(['single', 'double', 'suite'])
const Fee = z.enum(['night', 'upgrade', 'late'])
const Kind = z.enum(['cancel', 'noise', 'better', 'late'])
const Room = z.strictObject({ room: z.string(), state: z.enum(['clean', 'dirty']) })
const Stay = z.strictObject({
  kind: Kind,
  /** Which path through the rules is right: for demonstrations and analysis alone. */
  path: z.string(),
  guest: z.string(),
  stays: z.array(z.strictObject({ state: z.enum(['open', 'past']), booking: z.string() })),
  booking: z.string(),
  room: z.string(),
  type: z.enum(['single', 'double']),
  level: z.enum(['gold', 'basic']),
  /** Of a booking in the future. */
  days: z.int().nullable(),
  free: z.int().nullable(),
  /** Of a guest in the house. */
  tonight: z.enum(['free', 'taken']).nullable(),
  rooms: z.strictObject({ single: z.array(Room), double: z.array(Room), suite: z.array(Room) }),
  expected: z.strictObject({ room: z.string(), charges: z.array(Fee), cancelled: z.boolean() }),
})
export const stayOf = (task) => Stay.parse(task.data)
const End = z.strictObject({
  room: z.string(),
  charges: z.array(Fee),
  cancelled: z.boolean(),
  closed: z.boolean(),
  expected: z.strictObject({ room: z.string(), charges: z.array(Fee), cancelled: z.boolean() }),
})
const tool = (name, description, parameter, values) => ({
  name,
  description,
  parameters: {
    type: 'object',
    properties: { [parameter]: values ? { type: 'string', enum: [...values] } : { type: 'string' } },
    required: [parameter],
    additionalProperties: false,
  },
})
const takes = { find: 'of', rooms: 'type', move: 'room', charge: 'fee', cancel: 'booking', close: 'booking' }
const tools = [
  tool('find', 'Finds the stays of a guest by surname, or opens one by its booking number.', 'of'),
  tool('rooms', 'Lists the rooms of a type that nobody is in.', 'type', Type.options),
  tool('move', 'Moves the opened booking to a room.', 'room'),
  tool('charge', 'Charges a fee to the opened booking.', 'fee', Fee.options),
  tool('cancel', 'Cancels a booking.', 'booking'),
  tool('close', 'Closes the case of a booking.', 'booking'),
]
const refuse = (content) => ({ content, isError: true })
function open(task) {
  const stay = stayOf(task)
  let opened = false
  let { room } = stay
  const charges = []
  let cancelled = false
  let closed = false
  const facts = () =>
    [
      `room ${room}`,
      `type ${stay.type}`,
      `level ${stay.level}`,
      ...(stay.days === null ? [] : [`days ${stay.days}`]),
      ...(stay.free === null ? [] : [`free ${stay.free}`]),
      ...(stay.tonight === null ? [] : [`tonight ${stay.tonight}`]),
    ].join('\n')
  const answer = (name, given) => {
    const parameter = takes[name]
    if (parameter === undefined) return refuse('use find, rooms, move, charge, cancel or close')
    const asked = z.strictObject({ [parameter]: z.string().max(100) }).safeParse(given)
    if (!asked.success) return refuse(`${name} takes {"${parameter}": "…"}`)
    const text = asked.data[parameter].trim()
    switch (name) {
      case 'find': {
        if (text.toLowerCase() === stay.guest.toLowerCase())
          return { content: stay.stays.map(({ state, booking }) => `${state} ${booking}`).join('\n') }
        if (text === stay.booking) {
          opened = true
          return { content: facts() }
        }
        if (stay.stays.some(({ booking }) => booking === text)) return refuse('that stay is over')
        return refuse('no such guest or booking')
      }
      case 'rooms': {
        const type = Type.safeParse(text)
        if (!type.success) return refuse('types are single, double and suite')
        return { content: stay.rooms[type.data].map(({ state, room }) => `${state} ${room}`).join('\n') }
      }
      case 'move': {
        if (!opened) return refuse('open a booking first')
        if (
          !Object.values(stay.rooms)
            .flat()
            .some((one) => one.room === text)
        )
          return refuse('no such room is free')
        room = text
        return { content: 'moved' }
      }
      case 'charge': {
        const fee = Fee.safeParse(text)
        if (!fee.success) return refuse('fees are night, upgrade and late')
        if (!opened) return refuse('open a booking first')
        if (cancelled) return refuse('the booking is cancelled')
        charges.push(fee.data)
        return { content: 'charged' }
      }
      case 'cancel': {
        if (text !== stay.booking) return refuse('no such open booking')
        cancelled = true
        return { content: 'cancelled' }
      }
      default: {
        if (text !== stay.booking) return refuse('no such open booking')
        closed = true
        return { content: 'closed' }
      }
    }
  }
  return {
    opening: [{ role: 'user', content: task.instruction }],
    tools,
    step(action) {
      if (action.kind === 'message') return { messages: [{ role: 'user', content: 'Call a tool.' }], done: closed }
      const messages = []
      for (const one of action.calls) {
        if (closed) messages.push({ role: 'tool', name: one.name, content: 'the case is closed', isError: true })
        else messages.push({ role: 'tool', name: one.name, ...answer(one.name, one.arguments) })
      }
      return { messages, done: closed }
    },
    close() {
      return {
        state: { room, charges, cancelled, closed, expected: stay.expected },
        counts: { charges: charges.length },
      }
    },
  }
}
export const environment = { name: 'hotel-desk', open }
export function check({ state }) {
  const { room, charges, cancelled, closed, expected } = End.parse(state)
  return closed &&
    room === expected.room &&
    cancelled === expected.cancelled &&
    charges.join() === expected.charges.join()
    ? 1
    : 0
}
// Every slot has a space before it. The first ten are trained, the last three held out.
const wordings = {
  cancel: {
    train: [
      'Please cancel the booking of {guest}.',
      'The guest {guest} is not coming after all.',
      'A call from {guest}: the trip is off.',
      'Take {guest} off the list, they have other plans.',
      'We got an email, {guest} wants to cancel.',
      'I just heard that {guest} will not come.',
      'Could you cancel for {guest}? Something came up.',
      'The reservation of {guest} can be dropped.',
      'Bad news, {guest} had to call off the visit.',
      'Cancellation from {guest}, please take care of it.',
    ],
    heldOut: [
      'The journey of {guest} fell through, so no stay.',
      'Please void what {guest} booked.',
      'Sadly {guest} cannot make it to us.',
    ],
  },
  noise: {
    train: [
      'It is too loud for {guest} to sleep.',
      'A complaint from {guest}: the street is noisy.',
      'The neighbours keep {guest} awake.',
      'Please find a quiet place for {guest}, there is a party next door.',
      'The lift rattles all night, says {guest}.',
      'Guest {guest} is upset about the noise.',
      'There is building work by the window of {guest}.',
      'Could you help {guest}? The music is too loud.',
      'Too much noise, {guest} complains.',
      'Last night {guest} could not sleep because of the bar.',
    ],
    heldOut: [
      'A barking dog disturbs {guest}.',
      'The walls are thin and {guest} hears everything.',
      'Not a quiet minute for {guest} up there.',
    ],
  },
  better: {
    train: [
      'Could {guest} have a suite?',
      'It is a birthday, so {guest} would like something bigger.',
      'Please upgrade {guest}.',
      'A nicer room would please {guest}.',
      'The room is too small for {guest}.',
      'Guest {guest} asks for a suite.',
      'They want more space, that is {guest}.',
      'Is there something better for {guest}?',
      'An upgrade for {guest}, if we can.',
      'We have a wish from {guest}: a larger room.',
    ],
    heldOut: [
      'The best we have, please, for {guest}.',
      'Some luxury is what {guest} is after.',
      'Can we offer {guest} a grander room?',
    ],
  },
  late: {
    train: [
      'The guest {guest} would like to leave later today.',
      'A late check-out for {guest}, please.',
      'May {guest} stay until four?',
      'The flight is in the evening, so {guest} wants to keep the room today.',
      'Can {guest} check out in the afternoon?',
      'They are not packed yet: {guest} asks for more time.',
      'Please let {guest} stay a few hours longer.',
      'Checking out at noon is too early for {guest}.',
      'Some more hours for {guest}, if that works.',
      'We are asked to extend the stay of {guest} to this evening.',
    ],
    heldOut: [
      'The train goes at seven and {guest} hopes to rest until then.',
      'Could we delay the departure of {guest}?',
      'No hurry this morning for {guest}, they ask.',
    ],
  },
}
const guests = {
  train:
    'Harlow Bennett Carver Dalton Ellis Foster Graham Holland Irving Jensen Keller Lambert Mercer Norton Osborne Porter Quinn Reeves Sutton Turner Vaughn Walsh Yates Abbott Barker Collins Dixon Everett Fischer Gibson Hughes Ingram Jacobs Kramer Lawson Miller Nelson Olsen Parker Ramsey Simmons Thorne Underwood Vincent Weaver Archer Blake Conrad Drake Emerson Fuller Griffin Hayes Jarvis Kendall Logan Morris Newton Palmer Russell'.split(
      ' ',
    ),
  validation:
    'Sawyer Tucker Wagner Young Adams Burton Clark Duncan Fletcher Garner Hudson Jordan Larson Mason Nichols Perry Rogers Spencer Tyler Warren'.split(
      ' ',
    ),
  holdout:
    'Allen Baxter Chandler Douglas Edison Franklin Gordon Henderson Ivers Johnson Knight Lloyd Murphy Neville Owens Peterson Randall Stewart Travis Wilson Andrews Brooks Carter Dawson Elliott Ferris Goodwin Harper Jennings Kelley Lowell Manning Norris Parsons Roberts Saunders Thomas Victor Whitman Zimmer'.split(
      ' ',
    ),
}
export const SPLITS = [
  { split: 'train', tier: 'desk', n: 640, words: 'train' },
  { split: 'validation', tier: 'desk', n: 240, words: 'train' },
  { split: 'holdout', tier: 'desk', n: 400, words: 'train' },
  { split: 'holdout', tier: 'desk reworded', n: 200, words: 'heldOut' },
]
/** Tasks are a function of the seed. */
export function hotelTasks(seed) {
  return SPLITS.flatMap(({ split, tier, n, words }) =>
    Array.from({ length: n }, (_, i) => {
      const random = rng('hotel', seed, split, tier, i)
      const one = (of) => of[random.int(of.length)]
      const kind = Kind.options[i % Kind.options.length]
      const guest = one(guests[split])
      const wording = one(wordings[kind][words])
      const level = random.next() < 0.35 ? 'gold' : 'basic'
      const type = one(['single', 'double'])
      const used = new Set()
      const number = (digits) => {
        for (;;) {
          const drawn = String(10 ** (digits - 1) + random.int(9 * 10 ** (digits - 1)))
          if (used.has(drawn)) continue
          used.add(drawn)
          return drawn
        }
      }
      const booking = number(4)
      const past = Array.from({ length: random.int(3) }, () => ({ state: 'past', booking: number(4) }))
      const room = number(3)
      const listed = (hasClean) => {
        const dirty = Array.from({ length: 1 + random.int(3) }, () => ({ state: 'dirty', room: number(3) }))
        return random.shuffle(hasClean ? [...dirty, { state: 'clean', room: number(3) }] : dirty)
      }
      const cleanOwn =
        kind === 'noise' && level === 'basic' ? random.next() < 0.55 : kind === 'late' ? true : random.next() < 0.6
      const cleanSuite = kind === 'noise' ? true : random.next() < 0.7
      const other = type === 'single' ? 'double' : 'single'
      const rooms = { [type]: listed(cleanOwn), [other]: listed(random.next() < 0.6), suite: listed(cleanSuite) }
      const clean = (of) => rooms[of].find(({ state }) => state === 'clean')?.room ?? room
      const future = kind === 'cancel'
      const days = future ? 1 + random.int(9) : null
      const free = future ? 1 + random.int(9) : null
      const tonight = future ? null : one(['free', 'taken'])
      const gold = level === 'gold'
      const nothing = { room, charges: [], cancelled: false }
      const right = () => {
        switch (kind) {
          case 'cancel': {
            const dear = Number(days) < Number(free)
            const path = dear ? (gold ? 'cancel dear gold' : 'cancel dear') : 'cancel free'
            return { path, expected: { ...nothing, cancelled: true, charges: dear && !gold ? ['night'] : [] } }
          }
          case 'noise': {
            if (gold) return { path: 'noise gold', expected: { ...nothing, room: clean('suite') } }
            return cleanOwn
              ? { path: 'noise same', expected: { ...nothing, room: clean(type) } }
              : { path: 'noise none', expected: { ...nothing, room: clean('suite') } }
          }
          case 'better': {
            if (!cleanSuite) return { path: 'better none', expected: nothing }
            return {
              path: gold ? 'better gold' : 'better paid',
              expected: { ...nothing, room: clean('suite'), charges: gold ? [] : ['upgrade'] },
            }
          }
          case 'late':
            return tonight === 'taken'
              ? { path: 'late move', expected: { ...nothing, room: clean(type) } }
              : { path: 'late paid', expected: { ...nothing, charges: ['late'] } }
        }
      }
      const stays = random.shuffle([...past, { state: 'open', booking }])
      const data = { kind, guest, stays, booking, room, type, level, days, free, tonight, rooms, ...right() }
      return Task.parse({
        id: `${split}-${words}-${i}`,
        instruction: wording.replace('{guest}', guest),
        data,
        split,
        tier,
        family: `${kind}: ${wording}`,
      })
    }),
  )
}
/** Reads what the tools show; of the task it knows the kind of request and the name, as a person who reads the instruction does. */
export const expert = async (episode, task) => {
  const { guest, kind } = stayOf(task)
  const rows = (text) => text.split('\n').map((line) => line.split(' '))
  const valueOf = (text, state) => rows(text).find(([key]) => key === state)?.[1]
  const booking = valueOf(await call(episode, 'find', { of: guest }), 'open') ?? ''
  const facts = Object.fromEntries(rows(await call(episode, 'find', { of: booking })))
  const gold = facts['level'] === 'gold'
  const listClean = async (type) => valueOf(await call(episode, 'rooms', { type }), 'clean')
  const move = async (room) => void (await call(episode, 'move', { room: room ?? '' }))
  if (kind === 'cancel') {
    if (Number(facts['days']) < Number(facts['free']) && !gold) await call(episode, 'charge', { fee: 'night' })
    await call(episode, 'cancel', { booking })
  } else if (kind === 'noise') {
    const own = gold ? undefined : await listClean(facts['type'] ?? '')
    await move(own ?? (await listClean('suite')))
  } else if (kind === 'better') {
    const suite = await listClean('suite')
    if (suite !== undefined) {
      await move(suite)
      if (!gold) await call(episode, 'charge', { fee: 'upgrade' })
    }
  } else if (facts['tonight'] === 'taken') await move(await listClean(facts['type'] ?? ''))
  else await call(episode, 'charge', { fee: 'late' })
  await call(episode, 'close', { booking })
}
/** 32 training tasks to demonstrate: every path in turn, and of each path the wording that was shown least so far. */
export function toDemonstrate(tasks, n) {
  const train = tasks.filter(({ split }) => split === 'train')
  const paths = [...new Set(train.map((task) => stayOf(task).path))].toSorted((a, b) => a.localeCompare(b))
  const shown = []
  for (let i = 0; shown.length < n; i++) {
    const times = (task) => shown.filter(({ family }) => family === task.family).length
    const of = train.filter((task) => stayOf(task).path === paths[i % paths.length] && !shown.includes(task))
    shown.push(of.reduce((best, task) => (times(task) < times(best) ? task : best)))
  }
  return shown
}
