import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  likedSessions,
  onlyShown,
  recordSessions,
  runTraffic,
  sayOf,
  type SessionSketch,
  sessionCall,
  type TrafficChanges,
} from '../../../../test/support/learner-traffic.ts'
import { practisedModel } from '../../../../test/support/practised-model.ts'
import type { Datum, Store, Trainer } from '../../../core/index.ts'
import { anchor, imitate, policyGradient, rehearse, sequence } from '../../../optimize/weights/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { shadow } from '../../release-plan.ts'

const { renderer } = practisedModel().service
const hour = 3_600_000

let store: Store
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  now = hour
})
afterEach(() => store.close())

const sessions = (prefix: string, count: number, sketch?: Partial<SessionSketch>) =>
  likedSessions(store, { now, prefix, count, sketch })

/** A session in which somebody showed what should have been said. */
async function edited(id: string) {
  await recordSessions(store, renderer, [{ id, at: now - hour / 2 - 10_000 }])
  const said = { name: 'edit', node: `${id}-c-a` as never, key: id, at: now - hour / 2 }
  await store.signals.append([sayOf(id, { kind: 'edit', text: 'green' }, said)])
}

/** The methods of a trainer, which has private parts. */
const bound = (trainer: Trainer): Partial<Trainer> => ({
  forward: (...given) => trainer.forward(...given),
  forwardBackward: (...given) => trainer.forwardBackward(...given),
  optimStep: (...given) => trainer.optimStep(...given),
  loadState: (...given) => trainer.loadState(...given),
  loadWeights: (...given) => trainer.loadWeights(...given),
})

/** A run in the shadow that learns by one epoch or pass of each kind, with the sequences that each loss was given. */
async function run({ schedule, ...changes }: TrafficChanges = {}) {
  const given: (readonly [loss: string, sequences: number])[] = []
  const rates: number[] = []
  const ran = await runTraffic(store, now, {
    release: shadow(),
    schedule: { epochs: 1, demonstrationPasses: 1, preferencePasses: 0, ...schedule },
    trainer: (practised) =>
      Object.assign(Object.create(practised) as Trainer, bound(practised), {
        forwardBackward: (...[data, loss]: Parameters<Trainer['forwardBackward']>) => {
          given.push([loss.kind, data.length])
          return practised.forwardBackward(data, loss)
        },
        optimStep: (step: Parameters<Trainer['optimStep']>[0]) => {
          rates.push(step.learningRate)
          return practised.optimStep(step)
        },
      }),
    ...changes,
  })
  const total = (...kinds: string[]) =>
    given.reduce((sum, [kind, sequences]) => sum + (kinds.includes(kind) ? sequences : 0), 0)
  return { ...ran, imitated: total('cross_entropy'), practised: total('ppo'), rates }
}

/** Sequences of earlier runs that a run holds on to. */
async function anchored(schedule: TrafficChanges['schedule']) {
  let measured = 0
  const anchoring = {
    importance: (data: readonly Datum[]) => {
      measured = data.length
      return Promise.resolve(new Uint8Array(4))
    },
    hold: () => Promise.resolve(),
  }
  const trainer = (practised: Trainer): Trainer =>
    Object.assign(Object.create(practised) as Trainer, bound(practised), { anchoring })
  await run({ trainer, schedule: { anchor: 10, replay: 0, ...schedule } })
  return measured
}

describe('what earlier runs learned from', () => {
  it('is imitated, where it went well, and enters no policy gradient', async () => {
    await sessions('s', 20)
    expect((await run()).summary.replayed).toBe(0)
    await sessions('t', 20)
    const { summary, story, imitated, practised } = await run({ schedule: { replay: 0.5 } })
    expect(practised, 'the fresh sessions alone').toBe(20)
    expect(imitated, 'as much again: its share is a half').toBe(20)
    expect(summary.replayed).toBe(20)
    // After the policy gradient: the weights that sampled are those that its first ratio is of.
    expect(story).toBe('started agreed gathered practised imitated finished')
    await sessions('u', 4)
    expect((await run({ schedule: { replay: 0 } })).story).toBe('started agreed gathered practised finished')
  })

  it('is mixed into the passes over what people showed, where they did', async () => {
    await sessions('s', 20)
    await edited('shown')
    await run()
    await sessions('t', 9)
    await edited('more')
    const { summary, story, imitated, practised } = await run({ schedule: { replay: 0.5, demonstrationPasses: 2 } })
    expect(story).toBe('started agreed gathered practised imitated imitated finished')
    expect(practised).toBe(9)
    expect(imitated, 'two passes over one demonstration, each with ten of before').toBe(2 * (1 + 10))
    expect(summary).toMatchObject({ replayed: 20, passes: { demonstrations: 2, epochs: 1 } })
  })

  it('is imitated in the short steps of a learner, where the program says no other', async () => {
    await edited('shown')
    const schedule = { epochs: 0, preferencePasses: 1 }
    expect((await run({ schedule })).rates).toEqual([1e-4, 5e-5])
    await edited('more')
    const own = { supervised: { learningRate: 1e-3 }, preference: { learningRate: 2e-5 } }
    expect((await run({ schedule, ...own })).rates).toEqual([1e-3, 2e-5])
  })

  it('counts an answer once that was liked and taken', async () => {
    const imitate = { ...onlyShown, accepted: 0.5 }
    await sessions('s', 20)
    await run({ schedule: { imitate } })
    await sessions('t', 20)
    const { summary, imitated } = await run({ schedule: { imitate, replay: 0.5 } })
    expect(summary.learned).toMatchObject({ demonstrations: 10, sessions: 20 })
    expect(summary.replayed).toBe(20)
    expect(imitated).toBe(10 + 20)
    await sessions('u', 4)
    const held = await anchored({ imitate })
    expect(held, 'ten of each of two runs').toBe(20)
  })

  it('is rehearsed as it was, though its sessions went on', async () => {
    const schedule = { imitate: { ...onlyShown, accepted: 0.5 }, epochs: 1, demonstrationPasses: 1, replay: 0.5 }
    await sessions('s', 20)
    await run({ schedule })
    // The last answer is the one that is imitated where nothing is known of single ones.
    for (let i = 0; i < 20; i++) {
      await recordSessions(store, renderer, [{ id: `s${i}`, call: `later-${i}`, at: now + 1, answer: 'green' }])
    }
    now += hour
    await sessions('t', 20)
    const imitated = new Set<string>()
    const trainer = (practised: Trainer): Trainer =>
      Object.assign(Object.create(practised) as Trainer, bound(practised), {
        forwardBackward: (...[data, loss]: Parameters<Trainer['forwardBackward']>) => {
          if (loss.kind === 'cross_entropy') for (const { target } of data) imitated.add(String(target))
          return practised.forwardBackward(data, loss)
        },
      })
    const { summary } = await run({ trainer, schedule })
    expect(summary.replayed).toBe(20)
    expect(imitated, 'all of the same words').toHaveProperty('size', 1)
  })

  it('is rehearsed after practice where nothing shown is to be imitated', async () => {
    await sessions('s', 20)
    await run()
    await sessions('t', 8)
    await edited('shown')
    const { imitated } = await run({ schedule: { replay: 0.5, demonstrationPasses: 0 } })
    expect(imitated).toBe(8)
  })

  it('is rehearsed once, though the run was stopped after its policy gradient', async () => {
    await sessions('s', 20)
    await run()
    await sessions('t', 20)
    const stop = new AbortController()
    const onEvent = ({ type }: { readonly type: string }) => type === 'practised' && stop.abort(new Error('enough'))
    await expect(run({ signal: stop.signal, onEvent })).rejects.toThrow('enough')
    const [left] = await store.runs.list({ limit: 1 })
    const { summary, story } = await run({ resume: left!.id })
    expect(story).toBe('started agreed imitated finished')
    expect(summary.replayed).toBe(5)
  })

  it('is no example where it was cut off, however it was liked', async () => {
    for (let i = 0; i < 20; i++) {
      const id = `s${i}`
      const call = sessionCall({ id, at: now - hour / 2 - 10_000 }, renderer)
      const steps = call.part.steps.map((step) => ({ ...step, call: { ...step.call!, finish: 'length' as const } }))
      await store.traffic.append({ ...call, part: { ...call.part, steps } })
      await store.signals.append([sayOf(id, i % 2 === 0, { at: now - hour / 2 })])
    }
    expect((await run()).practised).toBe(20)
    await sessions('t', 20)
    expect((await run({ schedule: { replay: 0.5 } })).imitated).toBe(0)
  })
})

it('a run that is to hold on to weights is refused where its trainer cannot', async () => {
  await sessions('s', 6)
  await expect(run({ schedule: { anchor: 10 } })).rejects.toMatchObject({
    code: 'learn/trainer-lacks',
    message: expect.stringContaining('anchors, for schedule.anchor'),
  })
})

it('a run holds on to the weights that earlier ones need', async () => {
  await sessions('s', 6)
  await run()
  await sessions('t', 4)
  const held: (readonly [anchors: number, strength: number])[] = []
  let measured: readonly Datum[] = []
  const trainer = (practised: Trainer): Trainer =>
    Object.assign(Object.create(practised) as Trainer, bound(practised), {
      anchoring: {
        importance: (data: readonly Datum[]) => {
          measured = data
          return Promise.resolve(new Uint8Array(4))
        },
        hold: (anchors: readonly Uint8Array[], strength: number) =>
          Promise.resolve(void held.push([anchors.length, strength])),
      },
    })
  const { story, events } = await run({ trainer, schedule: { anchor: 10, replay: 0 } })
  expect(story).toBe('started agreed gathered anchored practised finished')
  // Of the six, three were liked: what went well is what is kept.
  expect(events.find(({ type }) => type === 'anchored')).toMatchObject({ sequences: 3, strength: 10 })
  expect(measured).toHaveLength(3)
  for (const { weights: counted = [] } of measured) expect(counted.filter((weight) => weight > 0)).toHaveLength(2)
  expect(held).toEqual([[1, 10]])
})

it('says by the sequence what is rehearsed and held on to, as over rollouts: it goes before the schedule', async () => {
  await sessions('a', 6)
  await edited('shown')
  await run()
  now += hour
  await sessions('b', 6)
  await edited('again')
  const lessons = sequence(policyGradient(), imitate(), rehearse({ share: 0.5 }))
  const { summary } = await run({ optimize: { model: lessons }, schedule: { replay: 0 } })
  expect(summary.replayed).toBeGreaterThan(0)
  await expect(run({ optimize: { model: sequence(imitate(), anchor({ strength: 10 })) } })).rejects.toMatchObject({
    code: 'learn/trainer-lacks',
    message: expect.stringContaining('anchors, for anchor()'),
  })
})
