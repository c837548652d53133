import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  askedRight,
  type Choice,
  choice,
  desks,
  deskTasks,
  even,
  frontDesk,
  reinforce,
} from '../../test/support/choice-kind.ts'
import { type Agent, defineAgent, parameter, storedValue } from '../agent/index.ts'
import {
  type Learning,
  mintVersion,
  type Optimizer,
  type Seat,
  type Store,
  type Trajectory,
  VersionId,
} from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { deploy } from '../release/index.ts'
import { rubric, signal, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { Learners } from './run/learners.ts'
import { rollouts, traffic } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const source = rollouts(desks, deskTasks)
const schedule = {
  updates: 3,
  tasks: 4,
  attempts: 2,
  validateEvery: 3,
  validationTasks: 4,
  patience: null,
  target: null,
}

/** Learns at desks; what it told, whichever way it ended. */
async function practise(changes: Partial<RolloutOptions> = {}, agent: Agent = frontDesk) {
  const events: LearnEvent[] = []
  const ended = learn(agent, {
    store,
    source,
    reward: rubric({ solved: verifier((final) => askedRight(final)) }),
    credit: leaveOneOut(),
    optimize: { route: reinforce() },
    schedule,
    deterministic: true,
    onEvent: (event) => events.push(event),
    ...changes,
  })
  const error: unknown = await ended.then(() => null).catch((thrown: unknown) => thrown)
  return { error, updates: events.flatMap((event) => (event.type === 'updated' ? [event] : [])) }
}

const surely = (option: 0 | 1): Choice => ({ ...even, preferences: option === 0 ? [20, -20] : [-20, 20] })

type Session = Learning<typeof choice>

/** A session that learns nothing, but for what is given. */
const session = (
  name: string,
  more: (seat: Seat<Choice>) => Partial<Session> = () => ({}),
): Optimizer<typeof choice> => ({
  name,
  kind: 'choice',
  open: async (seat) => ({
    bound: async () => seat.value,
    propose: async () => null,
    save: async () => ({ state: null }),
    step: async () => ({}),
    ...more(seat),
  }),
})

/** Asks the desk that `route` says, where `follow` says so (its second option), and the other one where not. */
const twoChoices = defineAgent({
  name: 'two-choices',
  parameters: { route: parameter(choice, even), follow: parameter(choice, even) },
  async run(_task, { route, follow }, episode) {
    const [chosen, follows] = [route.choose(), follow.choose() === 'refunds']
    const other = chosen === 'refunds' ? 'sales' : 'refunds'
    await episode.step({ kind: 'message', content: follows ? chosen : other })
    return { stopReason: 'done', message: null }
  },
})

describe('evaluate', () => {
  const tasks = source.train.slice(0, 3)

  it('attempts anew what else has learned since, and not what was attempted with the same', async () => {
    const earned: number[] = []
    const asks = session('asks', ({ evaluate }) => ({
      async step() {
        for (let again = 0; again < 2; again++) {
          const scored = (await evaluate?.(surely(1), tasks)) ?? []
          earned.push(scored.reduce((sum, { reward }) => sum + (reward.value ?? 0), 0))
        }
        return {}
      },
    }))
    let steps = 0
    const turns = session('turns', () => ({
      bound: async () => surely(steps < 2 ? 0 : 1),
      async step() {
        steps++
        return {}
      },
    }))
    const { error } = await practise({ optimize: { route: asks, follow: turns } }, twoChoices)
    expect(error).toBeNull()
    expect(earned).toEqual([0, 0, 0, 0, 3, 3])
    const [run] = await store.runs.list({ limit: 1 })
    const records = await store.trajectories.list({ run: run!.id, limit: 1000 })
    const attempted = records.filter(({ trajectory }) => trajectory.id.includes('/evaluate/route/'))
    expect(attempted).toHaveLength(9)
  })

  /** Evaluates what it says, before it says it. */
  const searching = (asked: string[] = []) =>
    session('searching', ({ parameter: own, value, evaluate }) => ({
      async bound() {
        asked.push(own)
        await evaluate?.(value, tasks)
        return value
      },
    }))

  it('can be asked by what says what acts', async () => {
    const asked: string[] = []
    expect((await practise({ optimize: { route: searching(asked) } })).error).toBeNull()
    expect(asked).toEqual(['route', 'route', 'route'])
  })

  it('is refused where two ask each other', async () => {
    const { error } = await practise({ optimize: { route: searching(), follow: searching() } }, twoChoices)
    expect(error).toMatchObject({ code: 'learn/circular-bound', message: expect.stringContaining('"route"') })
  })
})

it('leaves out a metric that is no finite number', async () => {
  const means = session('means', () => ({ step: async () => ({ mean: Number.NaN, most: Infinity, fine: 1 }) }))
  const { error, updates } = await practise({ optimize: { route: means } })
  expect(error).toBeNull()
  const told = updates.map(({ metrics }) => Object.keys(metrics).filter((name) => name.startsWith('route.')))
  expect(told).toEqual(updates.map(() => ['route.deposits', 'route.fine']))
  expect(told).toHaveLength(3)
})

describe('a session whose state cannot be saved', () => {
  it.each([
    ['as it throws', () => Promise.reject(new Error('no room')), 'unknown'],
    ['as it is a Map', async () => ({ state: new Map() as never }), 'learn/bad-state'],
    ['as there is none', async () => ({ state: undefined as never }), 'learn/bad-state'],
  ])('%s ends the run at its first checkpoint, and is closed with the others', async (_, save, code) => {
    const closed: string[] = []
    const close = (name: string) => async () => {
      closed.push(name)
      throw new Error('cannot be closed')
    }
    const optimize = {
      route: session('full', () => ({ save, close: close('route') })),
      follow: session('fine', () => ({ close: close('follow') })),
    }
    const { error } = await practise({ optimize }, twoChoices)
    expect(error).toMatchObject(code === 'unknown' ? { message: 'no room' } : { code })
    expect(closed).toEqual(['route', 'follow'])
    const runs = await store.runs.list({ limit: 10 })
    expect(runs).toMatchObject([{ status: 'failed', failure: { code } }])
  })
})

describe('over traffic, what another Version decided than serves', () => {
  async function visited(sessions: number): Promise<readonly Trajectory[]> {
    const deployment = await deploy(frontDesk, { store, environment: desks })
    const seen: Trajectory[] = []
    for (let i = 0; i < sessions; i++) {
      const trajectory = await deployment.run({ instruction: `Order ${i}?`, subject: `person-${i}` })
      const said = { source: 'user', reporter: 'ratchet', tenant: 'default', name: 'thumbs' } as const
      const thumbs = { ...said, key: trajectory.id, trajectory: trajectory.id, node: null, value: i % 2 === 0 }
      await store.signals.append([{ ...thumbs, at: Date.now() }])
      seen.push(trajectory)
    }
    await deployment.close()
    return seen
  }

  const counts = (heard: number[]) =>
    session('counts', () => ({
      async step(deposits) {
        heard.push(deposits.length)
        return {}
      },
    }))

  it('is left out and counted, whatever lag weights may have', async () => {
    await visited(8)
    expect((await practise({ schedule: { ...schedule, updates: 8 } })).error).toBeNull()
    await visited(6)
    const heard: number[] = []
    const { learned } = await learn(frontDesk, {
      store,
      source: traffic({ agent: 'front-desk', settle: '0s', maxLag: 1, reporters: { share: 1 } }),
      reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
      optimize: { route: counts(heard) },
    })
    expect(learned).toMatchObject({ learners: { route: { sessions: 6, credited: 6 } }, dropped: { stale: 8 } })
    expect(heard).toEqual([6])
  })

  it('is no step’s, though a run that is gone on with has gathered it', async () => {
    const trajectories = await visited(3)
    const heard: number[] = []
    const value = storedValue('route', choice, even)
    const serving = mintVersion('route', value, { parents: [], run: null })
    const learners = await Learners.open({
      learners: [{ parameter: 'route', definition: frontDesk.parameters.route, optimizer: counts(heard) as Optimizer }],
      serving: new Map([['route', serving]]),
      seed: 0,
      saved: {},
      blobs: {},
      attempt: null,
    })
    const other = VersionId.parse('other')
    const mixed = trajectories.map((one, i) => ({
      ...one,
      decisions: one.decisions.map((made) => (i === 0 ? { ...made, version: other } : made)),
    }))
    const credits = mixed.flatMap(({ id, decisions }) =>
      decisions.map((made) => ({ trajectory: id, decision: made.id, advantage: 1 })),
    )
    expect(await learners.step({ trajectories: mixed, credits }, 0)).toEqual({ 'route.deposits': 2, 'route.stale': 1 })
    expect(heard).toEqual([2])
  })
})
