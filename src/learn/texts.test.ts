import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dieAnywhere } from '../../test/support/die-anywhere.ts'
import {
  feedbackOnTicket,
  rightDesk,
  ruleWriter,
  served,
  ticketDesk,
  ticketDeskOf,
  ticketModel,
  tickets,
  ticketsOf,
} from '../../test/support/tickets.ts'
import { remainsOf } from '../../test/support/two-learners.ts'
import { asText, type ChatModel, type Metrics, type Store, VersionId } from '../core/index.ts'
import { leaveOneOut } from '../credit/index.ts'
import { pairedGate } from '../gate/index.ts'
import { bulletsIn, exemplars, exemplarsIn, playbook, reflect } from '../optimize/text/index.ts'
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
const schedule = {
  updates: 4,
  tasks: 4,
  attempts: 2,
  validateEvery: 2,
  rewording: 0,
  patience: null,
  target: null,
} as const

const practise = (at: Store, changes: Partial<RolloutOptions> = {}, agent = ticketDesk) =>
  learn(agent, {
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

const writing = { feedback: feedbackOnTicket, evaluations: 600, measuredBy: 24 }
const evolved = (writer = ruleWriter()) => reflect({ writer, locked: [served], ...writing })
const evolvedAll = (writer: ChatModel) => reflect({ writer, ...writing })
const quoting = (words: string): ChatModel => ({
  name: 'quoting',
  ask: async () => ({ text: `\`\`\`\nNote: ${words}\n\`\`\``, whole: true }),
})
const noted = (writer = ruleWriter()) => playbook({ writer, ...writing })

describe('a text in practice', () => {
  it('gains exemplars among own successes, is judged, and serves with what people wrote before them', async () => {
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
    expect(told.at(-1)).toMatchObject({ 'system.affords': 11 })
    expect(told.at(-1)?.['system.spent']).toBeLessThanOrEqual(400)
  })

  it('evolves by reflection, its locked part byte for byte', async () => {
    const writer = ruleWriter()
    const agent = ticketDeskOf(`${served}\nNotes:`)
    const { base, learned, decision } = await practise(store, { optimize: { system: evolved(writer) } }, agent)
    expect(decision).toBe('promote')
    expect(learned.success ?? 0).toBeGreaterThan((base.success ?? 0) + 0.3)
    expect((await servedText()).startsWith(`${served}\n`)).toBe(true)
    // Only training tasks were read.
    expect(writer.questions.every(({ material }) => !/ticket (?:validation|holdout)/.test(material))).toBe(true)
  })

  it('gains a playbook by deltas', async () => {
    const { base, learned, decision } = await practise(store, { optimize: { system: noted() } })
    expect(decision).toBe('promote')
    expect(learned.success ?? 0).toBeGreaterThan((base.success ?? 0) + 0.3)
    const { prefix, bullets } = bulletsIn(await servedText())
    expect(prefix).toBe(served)
    expect(bullets.length).toBeGreaterThan(3)
  })

  it.each([
    ['exemplars', exemplars({ count: 2, evaluations: 60, measuredBy: 6, perUpdate: 1 })],
    ['reflection', reflect({ writer: ruleWriter(), feedback: feedbackOnTicket, evaluations: 60, measuredBy: 6 })],
    ['a playbook', playbook({ writer: ruleWriter(), feedback: feedbackOnTicket, evaluations: 60, measuredBy: 6 })],
  ])('comes to the same with %s wherever the process died, and attempts nothing twice', async (_, optimizer) => {
    const small = { ...schedule, updates: 2, validateEvery: 1, validationTasks: 4, holdoutTasks: 4 }
    const changes = { optimize: { system: optimizer }, schedule: small, deterministic: true }
    const episodesOf = async (at: Store) => {
      const records = await at.trajectories.list({ limit: 10_000 })
      return records.map(({ trajectory }) => trajectory.id.replace(/^[^/]*\//, '')).toSorted()
    }
    await practise(store, changes)
    const [expected, episodes] = [await remainsOf(store), await episodesOf(store)]
    const died = await dieAnywhere({
      first: 2,
      every: 13,
      run: (at, resume) => practise(at, { ...changes, ...(resume && { resume }) }),
      async check(at, n) {
        expect(await remainsOf(at), `died at write ${n}`).toEqual(expected)
        expect(await episodesOf(at), `died at write ${n}`).toEqual(episodes)
      },
    })
    expect(died).toBeGreaterThan(5)
  })

  it.each([
    ['a budget below the floor', () => exemplars({ evaluations: 50 }), 'text/small-budget', /at least 124/],
    ['another', () => reflect({ writer: ruleWriter(), evaluations: 1 }), 'text/small-budget', /at least 120/],
    ['a count that is none', () => exemplars({ count: 0 }), 'text/bad-option', /at least 1/],
    [
      'a locked part that is not there',
      () => reflect({ writer: ruleWriter(), locked: ['x!'] }),
      'text/locked-span',
      /exactly/,
    ],
    [
      'nothing to change',
      () => reflect({ writer: ruleWriter(), locked: [served] }),
      'text/nothing-to-change',
      /Lock less/,
    ],
  ])('is refused with %s, and nothing is written', async (_, optimizer, code, hint) => {
    const attempt = async () => practise(store, { optimize: { system: optimizer() } })
    await expect(attempt()).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })

  it('takes nothing that quotes a held-out task, and counts it', async () => {
    const [quoted] = ticketsOf('holdout', 1)
    const told: Metrics[] = []
    const onEvent = (event: LearnEvent) => {
      if (event.type === 'updated') told.push(event.metrics)
    }
    await practise(store, { optimize: { system: evolvedAll(quoting(quoted?.instruction ?? '')) }, onEvent })
    expect(await servedText()).toBe(served)
    expect(told.at(-1)).toMatchObject({ 'system.refused.leak': 4, 'system.candidates': 1 })
  })

  it('fails with the writer’s own error where that never answers', async () => {
    const writer = { name: 'gone', ask: () => Promise.reject(new Error('no such host')) }
    const attempt = practise(store, { optimize: { system: playbook({ writer, ...writing }) } })
    await expect(attempt).rejects.toThrow('no such host')
  })
})

describe('a text over traffic', () => {
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
  const redact = (text: string) => text.replace(/ from \S+@\S+/g, '')
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

  it('gains exemplars in redacted words, and serves where they do better', async () => {
    await visited()
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

  it.each([
    ['reflection', (writer: ChatModel) => reflect({ writer, success: 0.5, sessions: { redact } })],
    ['a playbook', (writer: ChatModel) => playbook({ writer, success: 0.5, sessions: { redact } })],
  ])('gains what %s writes from sessions', async (_, optimizer) => {
    await visited()
    const writer = ruleWriter()
    const { outcome } = await fromTraffic({ system: optimizer(writer) })
    expect(outcome).toBe('released')
    expect(await servedText()).toMatch(/^Name the desk that a ticket belongs to\.\s[\s\S]* means /)
    expect(writer.questions).toHaveLength(1)
    expect(writer.questions[0]?.material).not.toContain('ada@home')
  })

  it('takes nothing that quotes a held-out task', async () => {
    await visited()
    const [quoted] = ticketsOf('holdout', 1)
    const sessions = { redact }
    const optimizer = reflect({ writer: quoting(quoted?.instruction ?? ''), sessions })
    expect(await fromTraffic({ system: optimizer })).toMatchObject({ outcome: 'nothing-to-learn' })
  })

  it.each([
    ['exemplars', exemplars()],
    ['reflection', reflect({ writer: ruleWriter() })],
    ['a playbook', playbook({ writer: ruleWriter() })],
  ])('is refused with %s where nobody said how sessions may be shared', async (_, optimizer) => {
    await visited()
    const attempt = fromTraffic({ system: optimizer })
    await expect(attempt).rejects.toMatchObject({ code: 'text/no-consent', hint: expect.stringContaining('redact') })
    expect(await store.runs.list({ limit: 1 })).toEqual([])
  })
})
