// Whether the job is sound: node examples/hotel/check.mjs. The expert is always right, doing nothing never, careless and random scripts seldom.
import { rng } from 'ratchet-agents'
import { call, nullPolicy, scorePolicy } from 'ratchet-agents/environment'
import { check, environment, expert, hotelTasks, stayOf } from './hotel.mjs'
const tasks = hotelTasks(0)
const values = (text) => text.split('\n').flatMap((line) => line.split(' ').slice(1))
const random = async (episode, task) => {
  const draw = rng('random', task.id)
  const known = [stayOf(task).guest]
  for (let i = 0; i < 10; i++) {
    const of = (list) => list[draw.int(list.length)]
    const acts = [
      ['find', { of: of(known) }],
      ['rooms', { type: of(['single', 'double', 'suite']) }],
      ['move', { room: of(known) }],
      ['charge', { fee: of(['night', 'upgrade', 'late']) }],
      ['cancel', { booking: of(known) }],
      ['close', { booking: of(known) }],
    ]
    const [name, given] = of(acts)
    const shown = await call(episode, name, given)
    known.push(...values(shown).filter((value) => /^\d{3,}$/.test(value)))
    if (shown === 'closed') return
  }
}
const closing = async (episode, task) => {
  const { guest } = stayOf(task)
  const booking =
    (await call(episode, 'find', { of: guest }))
      .split('\n')
      .find((line) => line.startsWith('open'))
      ?.slice(5) ?? ''
  await call(episode, 'close', { booking })
}
// Knows the kind, and no rule: every kind's commonest way.
const careless = async (episode, task) => {
  const { guest, kind } = stayOf(task)
  const booking =
    (await call(episode, 'find', { of: guest }))
      .split('\n')
      .find((line) => line.startsWith('open'))
      ?.slice(5) ?? ''
  const facts = await call(episode, 'find', { of: booking })
  const type = kind === 'better' ? 'suite' : (/type (\w+)/.exec(facts)?.[1] ?? '')
  if (kind === 'cancel') await call(episode, 'cancel', { booking })
  else if (kind === 'late') await call(episode, 'charge', { fee: 'late' })
  else {
    const room =
      (await call(episode, 'rooms', { type }))
        .split('\n')
        .find((line) => line.startsWith('clean'))
        ?.slice(6) ?? ''
    await call(episode, 'move', { room })
    if (kind === 'better') await call(episode, 'charge', { fee: 'upgrade' })
  }
  await call(episode, 'close', { booking })
}
for (const [name, policy] of Object.entries({ expert, null: nullPolicy, random, closing, careless })) {
  const { n, successes } = await scorePolicy(environment, policy, tasks, check)
  console.log(name.padEnd(10), `${successes} of ${n}`, `${((100 * successes) / n).toFixed(1)} %`)
}
