import { afterAll, expect, it } from 'vitest'
import { servedTrainer } from '../../test/support/served-trainer.ts'
import { ask, datumBody, passBody, PatientClient, stepBody } from '../../test/support/trainer-client.ts'
import { TrainerState } from './journal/state.ts'
import { KeptResults } from './kept-results.ts'

const minute = 60_000
const time = { now: 1_000_000_000 }
const opened = servedTrainer({ clock: { now: () => time.now }, sessionMs: 1500 })
afterAll(async () => (await opened).close())

it('a result is kept for an hour, and for some minutes once it was handed over', async () => {
  const { url } = await opened
  const client = new PatientClient(url)
  const model = await client.model({ rank: 4, seed: 1 }, 'tiny')
  const session_id = model.split(':')[0]
  const beat = setInterval(() => void ask(url, '/session_heartbeat', { session_id }).catch(() => {}), 50)
  try {
    const { forward_backward_input: forward_input, ...rest } = passBody(model, 1, [datumBody([1, 2, 3])])
    const forward = { ...rest, forward_input }
    const measured = await client.send('/forward', forward)
    const passed = await client.send('/forward_backward', passBody(model, 2, [datumBody([1, 2, 3])]))
    const left = await client.send('/forward', { ...forward, seq_id: 3 })
    await client.result('/optim_step', stepBody(model, 4))
    const status = async ({ request_id }: Record<string, unknown>) =>
      (await ask(url, '/retrieve_future', { request_id })).status
    // Asking is a sign that it is wanted: it is looked for what is over in between.
    const later = (minutes: number) => {
      time.now += minutes * minute
      return new Promise((resolve) => setTimeout(resolve, 2000))
    }
    expect(await Promise.all([status(measured), status(passed)])).toEqual([200, 200])
    await later(4)
    expect(await status(measured)).toBe(200)
    await later(6)
    expect(await status(measured)).toBe(404)
    // The model is made again from the one, and nobody asked for the other.
    expect(await Promise.all([status(passed), status(left)])).toEqual([200, 200])
    const third = await client.send('/forward', { ...forward, seq_id: 5 })
    await client.result('/optim_step', stepBody(model, 6))
    await later(61)
    expect(await status(third)).toBe(404)
    expect(await status(passed)).toBe(200)
  } finally {
    clearInterval(beat)
  }
})

it('a result that is handed over late is kept for as long', () => {
  const clock = { now: 0 }
  const state = new TrainerState()
  const results = new KeptResults(state, { now: () => clock.now }, 60 * minute)
  const subject = { kind: 'model', id: 'gone' } as const
  clock.now = minute
  state.apply({ type: 'session-ended', session: 's', at: clock.now })
  for (const id of ['late', 'never']) {
    state.apply({ type: 'accepted', request: { id, owner: 'a', subject, seq: null, hash: id, work: null } })
  }
  const keptAt = (minutes: number) => {
    clock.now = minutes * minute
    results.forget()
    return [...state.requests.keys()]
  }
  expect(keptAt(60)).toEqual(['late', 'never'])
  results.delivered('late')
  expect(keptAt(64)).toEqual(['late'])
  expect(keptAt(66)).toEqual([])
})
