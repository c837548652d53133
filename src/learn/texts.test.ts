import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crashingStore } from '../../test/support/crashing-store.ts'
import { rightDesk, served, ticketDesk, ticketModel, tickets, ticketsOf } from '../../test/support/tickets.ts'
import { remainsOf } from '../../test/support/two-learners.ts'
import { asText, type Metrics, type Store, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { exemplars, exemplarsIn } from '../optimize/text/index.ts'
import { deploy, Registry } from '../release/index.ts'
import { rubric, signal, verifier } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import type { LearnEvent } from './events.ts'
import { learn } from './learn.ts'
import type { RolloutOptions } from './options.ts'
import { direct } from './release-plan.ts'
import { rollouts, traffic } from './source.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const tasks = [...ticketsOf('train', 40), ...ticketsOf('validation', 30), ...ticketsOf('holdout', 60)]
const gate = pairedGate({ margin: 0.02, alpha: 0.05 })
const solved = rubric({ solved: verifier(rightDesk) })
const few = exemplars({ count: 6, evaluations: 400, measuredBy: 24 })
const schedule = { updates: 4, tasks: 4, attempts: 2, validateEvery: 2, patience: null, target: null } as const

const practise = (at: Store, changes: Partial<RolloutOptions> = {}) =>
  learn(ticketDesk, {
    model: ticketModel(),
    store: at,
    source: rollouts(tickets, tasks),
    reward: solved,
    credit: leaveOneOut(),
    optimize: { system: few },
    gate,
    schedule,
    deterministic: true,
    ...changes,
  })

async function servedText(): Promise<string> {
  const { release } = await new Registry(store).current('ticket-desk')
  const version = await store.versions.get(VersionId.parse(release.versions['system']))
  return asText(version?.value)?.text ?? ''
}

describe('exemplars', () => {
  it('are found in practice among own successes, judged, and served after what people wrote', async () => {
    const told: Metrics[] = []
    const onEvent = (event: LearnEvent) => {
      if (event.type === 'updated') told.push(event.metrics)
    }
    const { base, learned, decision } = await practise(store, { onEvent })
    expect(decision).toBe('promote')
    expect(learned.success ?? 0).toBeGreaterThan((base.success ?? 0) + 0.3)
    const { prefix, exemplars: found } = exemplarsIn(await servedText())
    expect(prefix).toBe(served)
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBeLessThanOrEqual(6)
    // What measures is no exemplar.
    const trained = new Set(ticketsOf('train', 40).map(({ instruction }) => instruction))
    expect(found.every(({ asked }) => trained.has(asked))).toBe(true)
    expect(told.at(-1)).toMatchObject({ 'system.affords': 12 })
    expect(told.at(-1)?.['system.spent']).toBeLessThanOrEqual(400)
  })

  it('come to the same wherever the process died, and attempt nothing twice', async () => {
    const small = { ...schedule, updates: 2, validateEvery: 1, validationTasks: 4, holdoutTasks: 4 }
    const optimize = { system: exemplars({ count: 2, evaluations: 60, measuredBy: 6, perUpdate: 1 }) }
    const changes = { optimize, schedule: small, deterministic: true }
    const episodesOf = async (at: Store) => {
      const records = await at.trajectories.list({ limit: 10_000 })
      return records.map(({ trajectory }) => trajectory.id.replace(/^[^/]*\//, '')).toSorted()
    }
    await practise(store, changes)
    const [expected, episodes] = [await remainsOf(store), await episodesOf(store)]
    let died = 0
    for (let n = 2; ; n += 7) {
      const other = await openMemoryStore()
      const dying = crashingStore(other, n, n % 2 === 0 ? 'before' : 'after')
      await practise(dying.store, changes).catch(() => {})
      if (!dying.crashed()) break
      died++
      const [begun] = await other.runs.list({ limit: 1 })
      if (begun?.status !== 'completed') await practise(other, { ...changes, ...(begun && { resume: begun.id }) })
      expect(await remainsOf(other), `died at write ${n}`).toEqual(expected)
      expect(await episodesOf(other), `died at write ${n}`).toEqual(episodes)
      await other.close()
    }
    expect(died).toBeGreaterThan(5)
  })

  it.each([
    ['a budget below the floor', exemplars({ evaluations: 50 }), 'text/small-budget', /at least 108/],
    ['a count that is none', null, 'text/bad-option', /at least 1/],
  ])('are refused with %s, and nothing is written', async (_, optimizer, code, hint) => {
    const attempt = async () => practise(store, { optimize: { system: optimizer ?? exemplars({ count: 0 }) } })
    await expect(attempt()).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })
})

describe('exemplars of people’s sessions', () => {
  async function visited(): Promise<void> {
    const deployment = await deploy(ticketDesk, { store, environment: tickets, model: ticketModel() })
    for (const [i, { instruction, data }] of ticketsOf('train', 40).entries()) {
      const session = await deployment.run({ instruction: `${instruction} from ada@home.example`, subject: `p-${i}` })
      const said = { source: 'user', reporter: 'ratchet', tenant: 'default', name: 'thumbs', node: null } as const
      const value = JSON.stringify(data).includes(session.nodes.at(-1)?.message.content ?? '')
      await store.signals.append([{ ...said, key: `s-${i}`, trajectory: session.id, value, at: Date.now() }])
    }
    await deployment.close()
  }
  const holdout = rollouts(tickets, tasks).holdout
  const fromTraffic = (optimizer: RolloutOptions['optimize'] & {}) =>
    learn(ticketDesk, {
      model: ticketModel(),
      store,
      source: traffic({
        agent: 'ticket-desk',
        settle: '0s',
        reporters: { share: 1 },
        evaluation: { agent: ticketDesk, environment: tickets, holdout, reward: solved },
      }),
      reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
      optimize: optimizer,
      gate,
      release: direct(),
    })

  it('serve where they do better, in redacted words', async () => {
    await visited()
    const redact = (text: string) => text.replace(/ from \S+@\S+/g, '')
    const { outcome } = await fromTraffic({ system: exemplars({ count: 8, sessions: { redact } }) })
    expect(outcome).toBe('released')
    const text = await servedText()
    expect(exemplarsIn(text)).toMatchObject({ prefix: served })
    expect(exemplarsIn(text).exemplars).toHaveLength(8)
    expect(text).not.toContain('ada@home')
    // None of a session that went badly.
    const desks = new Map(ticketsOf('train', 40).map(({ instruction, data }) => [instruction, JSON.stringify(data)]))
    for (const { asked, answered } of exemplarsIn(text).exemplars) expect(desks.get(asked)).toContain(answered)
  })

  it('are refused where nobody said how they may be shared, and nothing is written', async () => {
    await visited()
    const attempt = fromTraffic({ system: exemplars({}) })
    await expect(attempt).rejects.toMatchObject({ code: 'text/no-consent', hint: expect.stringContaining('redact') })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })
})
