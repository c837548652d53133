import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { item } from '../../test/support/memory-items.ts'
import { type CameTo, cameTo, defineAgent, memory, parameter } from '../agent/index.ts'
import { batchBaseline } from '../credit/index.ts'
import {
  type Environment,
  type Kind,
  type HoldoutTask,
  Signal,
  subjectMark,
  type Store,
  TaskId,
} from '../core/index.ts'
import { pairedGate } from '../gate/index.ts'
import { direct, learn, traffic, type TrafficOptions } from './index.ts'
import { caseUtility, type CaseUtilityOptions } from '../optimize/memory/index.ts'
import { deploy, type Deployment, Registry } from '../release/index.ts'
import { rubric, signal, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { z } from 'zod'

let store: Store
let deployment: Deployment
beforeEach(async () => {
  store = await openMemoryStore()
  deployment = await deploy(agent, { store, environment, everyMs: 5 })
})
afterEach(async () => {
  await deployment.close()
  await store.close()
})

const desks = ['amber', 'birch']
const dice: Kind<'dice', null, number, { throw(): number }, never> = {
  kind: 'dice',
  value: z.null(),
  made: z.number(),
  handle: ({ rng }, recorder) => ({
    throw() {
      const side = rng.int(desks.length)
      recorder.decide({ made: side, propensity: { log: -Math.log(desks.length) } })
      return side
    },
  }),
  deposit: () => [],
}

/** Goes where it went before with what is asked, and else anywhere. The right desk is birch. */
const agent = defineAgent({
  name: 'office',
  parameters: { cases: memory({ explore: 0 }), dice: parameter(dice, null) },
  async run({ instruction }, { cases, dice: chance }, episode) {
    const [known] = await cases.find(instruction)
    const desk = known?.text ?? desks[chance.throw()] ?? ''
    cases.note(desk)
    await episode.step({ kind: 'message', content: desk })
    return { stopReason: 'done', message: null }
  },
})

const environment: Environment = {
  name: 'office',
  open() {
    let at = ''
    return {
      opening: [],
      tools: [],
      step(action) {
        at = action.kind === 'message' ? action.content : ''
        return { messages: [], done: true }
      },
      close: () => ({ state: { at }, counts: {} }),
    }
  },
}

const asked = 'My kettle is broken, where do I go?'

async function sessionOf(subject: string) {
  const session = await deployment.run({ instruction: asked, subject })
  const [made] = session.decisions.flatMap((decision) =>
    decision.parameter === 'cases' ? [z.looseObject({ did: z.string() }).parse(decision.made)] : [],
  )
  const went = z
    .object({ text: z.string() })
    .parse(session.decisions.map(({ made: one }) => one).find((one) => JSON.stringify(one).includes('note'))).text
  return {
    session,
    went,
    recalled: z
      .array(z.object({ shown: z.boolean() }))
      .parse(made?.['items'])
      .filter(({ shown }) => shown).length,
  }
}

/** Persons ask, and say what it was worth; then a run learns from that, and its candidate serves. */
async function learned(persons: readonly string[], options: CaseUtilityOptions, more: Partial<TrafficOptions> = {}) {
  for (const [i, person] of persons.entries()) {
    const { session, went } = await sessionOf(person)
    const thumbs = { key: `thumbs-${person}-${i}`, trajectory: session.id, node: null, source: 'user', name: 'thumbs' }
    await store.signals.append([Signal.parse({ ...thumbs, value: went === 'birch', at: Date.now() })])
  }
  const holdout = Array.from({ length: 60 }, (_, i): HoldoutTask => {
    return { id: TaskId.parse(`h-${i}`), instruction: asked, data: {}, split: 'holdout' }
  })
  const reward = rubric({ solved: verifier(({ state }) => (JSON.stringify(state).includes('birch') ? 1 : 0)) })
  return learn(more.declares === undefined ? agent : elsewhere, {
    store,
    source: traffic({
      agent: agent.name,
      settle: '0s',
      reporters: { share: 1 },
      evaluation: { agent, environment, holdout, reward },
    }),
    reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
    credit: batchBaseline(),
    optimize: { cases: caseUtility({ ...options, explore: 0 }) },
    gate: pairedGate({ margin: 0.02, alpha: 0.05 }),
    release: direct(),
    ...more,
  })
}

const persons = Array.from({ length: 24 }, (_, i) => `person-${i}`)

/** The same agent as a process has it that declares its memory otherwise. */
const elsewhere = defineAgent({
  ...agent,
  parameters: { ...agent.parameters, cases: memory({ explore: 0, recall: 3 }) },
})

it('is declared by a run, unless another process is to', async () => {
  await expect(learned(persons, { share: 'tenant' }, { declares: true })).rejects.toMatchObject({
    code: 'release/initial-changed',
  })
  const { outcome } = await learned([], { share: 'tenant' }, { declares: false })
  expect(outcome).toBe('released')
})

it('reads what sessions earned between the least and the most that their rubric gives', async () => {
  const came: (readonly [number | null, CameTo | null])[] = []
  const hears: ReturnType<typeof caseUtility> = {
    ...caseUtility(),
    async open(...given) {
      const learning = await caseUtility().open(...given)
      return {
        ...learning,
        step(experiences, update) {
          for (const one of experiences) came.push([one.earned, cameTo(one)])
          return learning.step(experiences, update)
        },
      }
    },
  }
  await learned(
    persons,
    {},
    {
      optimize: { cases: hears },
      reward: rubric({ thumbs: signal('thumbs', { weight: 0.5 }) }, { floor: -1 }),
    },
  )
  expect(new Set(came.map(([earned]) => earned))).toEqual(new Set([0.5, -0.5]))
  for (const [earned, outcome] of came) {
    expect(outcome).toEqual({ signal: earned, example: earned === 0.5 ? 'worked' : 'failed' })
  }
})

async function servingItems() {
  const { release } = await new Registry(store).current('office')
  const version = await store.versions.get(release.versions['cases'] ?? expect.fail('no memory serves'))
  return z
    .object({ value: z.object({ items: z.array(z.object({ text: z.string(), derivedFrom: z.array(z.string()) })) }) })
    .parse(version?.value).value.items
}

it('learns from production what serves the next ones, and an erasure takes it from what serves', async () => {
  const { outcome } = await learned(persons, { share: 'tenant' })
  expect(outcome).toBe('released')
  await vi.waitFor(async () => expect((await sessionOf('somebody new')).recalled).toBe(1))
  expect((await sessionOf('somebody new')).went).toBe('birch')

  const items = await servingItems()
  expect(items.map(({ text }) => text)).toEqual(['birch'])
  let erased = 0
  for (const person of persons) {
    const before = (await servingItems()).length
    await store.trajectories.remove({ tenant: 'default', subject: person }, { dryRun: false })
    erased += before - (await servingItems()).length
  }
  expect(erased).toBe(1)
  await vi.waitFor(async () => expect((await sessionOf('somebody else')).recalled).toBe(0))
})

it('recalls what is a person’s own in their sessions only, whoever else asks, and in no other tenant', async () => {
  const owner = { tenant: 'default', about: subjectMark('default', 'ada') }
  const own = item(asked, { owner, text: 'birch' })
  const parameters = { ...agent.parameters, cases: memory({ explore: 0, items: [own] }) }
  const recalledBy = async (options: Parameters<typeof deploy>[1], subject?: string) => {
    const running = await deploy(defineAgent({ ...agent, name: 'own', parameters }), options)
    const { decisions } = await running.run({ instruction: asked, ...(subject === undefined ? {} : { subject }) })
    await running.close()
    return decisions.filter(({ made }) => JSON.stringify(made ?? null).includes(own.id)).length
  }
  expect(await recalledBy({ store, environment }, 'ada')).toBe(1)
  expect(await recalledBy({ store, environment }, 'bob')).toBe(0)
  expect(await recalledBy({ store, environment })).toBe(0)
  expect(await recalledBy({ store, environment, tenant: 'acme' }, 'ada')).toBe(0)
})

it('keeps to each person what their session taught, unless it is to be shared', async () => {
  const { outcome } = await learned([...persons, 'ada', 'ada', 'ada', 'ada', 'ada', 'ada'], {})
  // Held-out attempts are nobody's: what is each person's own cannot show there.
  expect(outcome).toBe('rejected')
})
