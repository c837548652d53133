import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EvidenceReport } from '../../learn/index.ts'
import { learnerLine } from '../../report/index.ts'
import { type LearnerFlags, learnerPlan } from './learner-plan.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-learner-plan-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const support = { name: 'support', model: 'small', rank: 8, system: 'Help.', tools: { look: 'Looks.' } }

function plan(config: object, flags: LearnerFlags = {}) {
  const path = join(folder, 'serve.json')
  writeFileSync(path, JSON.stringify(config))
  return learnerPlan({ config: path, ...flags })
}

describe('the plan of a learner', () => {
  it('is the gateway’s configuration with its section, and the flags over it', async () => {
    const learns = { ...support, learn: { every: '2h', minEpisodes: 50, mode: 'canary' } }
    const config = { agents: [learns], tenant: 'acme' }
    expect((await plan(config)).config).toMatchObject({ every: 7_200_000, minEpisodes: 50, mode: 'canary' })
    const {
      agent,
      tenant,
      config: learn,
      model,
    } = await plan(config, { every: '30m', minEpisodes: 9, agent: 'support' })
    expect(learn).toMatchObject({ every: 1_800_000, minEpisodes: 9, mode: 'canary' })
    expect({ tenant, model }).toEqual({
      tenant: 'acme',
      model: { model: 'minimind2-small', renderer: 'template', precision: 'auto' },
    })
    expect(agent).toMatchObject({
      name: 'support',
      parameters: {
        model: { kind: 'weights', base: 'minimind2-small', method: { kind: 'lora', rank: 8 } },
        system: { kind: 'text' },
        'tool-look': { kind: 'text' },
      },
    })
    const texts = ['system', 'tool-look'].map((name) => agent.parameters[name]?.initial(() => 'a hash'))
    expect(texts).toEqual([{ text: 'Help.' }, { text: 'Looks.' }])
  })

  it('has a memory learn before a model of any upstream, and beside weights', async () => {
    const upstreams = [{ name: 'u', url: 'https://example.com/v1' }]
    const remembers = { ...support, memory: { share: 'tenant', capacity: 50 } }
    const alone = await plan({ agents: [{ ...remembers, learn: { trainer: 'none' } }], upstreams })
    expect(alone.model).toBeNull()
    expect(Object.keys(alone.agent.parameters)).toEqual(['memory', 'system', 'tool-look'])
    expect(alone.optimize).toMatchObject({ memory: { name: 'case-utility', kind: 'memory' } })
    const beside = await plan({ agents: [remembers] })
    expect(Object.keys(beside.agent.parameters)).toEqual(['model', 'memory', 'system', 'tool-look'])
    expect(Object.keys(beside.optimize)).toEqual(['memory'])
    expect((await plan({ agents: [support] })).optimize).toEqual({})
  })

  it('goes no further than the shadow by itself', async () => {
    expect((await plan({ agents: [support] })).config).toMatchObject({ mode: 'shadow', every: 1_800_000 })
  })

  it.each([
    ['input/unknown-agent', { agents: [support] }, { agent: 'sales' }],
    ['input/unknown-agent', { agents: [] }, {}],
    ['input/unknown-agent', { agents: [support, { ...support, name: 'other' }] }, {}],
    ['input/not-trainable', { agents: [support], upstreams: [{ name: 'u', url: 'https://example.com/v1' }] }, {}],
    ['input/invalid', { agents: [{ ...support, learn: { every: 'soon' } }] }, {}],
    ['input/invalid', { agents: [{ ...support, learn: { mood: 'good' } }] }, {}],
    ['input/invalid', { agents: [support], gateway: {} }, {}],
    ['input/invalid', { agents: [{ ...support, memory: { capacity: 0 } }] }, {}],
    ['model/not-found', { agents: [{ ...support, memory: { embedder: '/nowhere' } }] }, {}],
  ])('%s', async (code, config, flags) => {
    await expect(plan(config, flags)).rejects.toMatchObject({ code })
  })
})

describe('lines for people', () => {
  const said = (event: Parameters<typeof learnerLine>[0]) => stripVTControlCharacters(learnerLine(event) ?? '')

  it('tell what was gathered, which guards vetoed, and what was left out', () => {
    const report = EvidenceReport.parse({
      asOf: 0,
      seen: 12,
      sessions: 8,
      credited: 8,
      demonstrations: 1,
      pairs: 2,
      dropped: { unsettled: 3, 'missing-reward': 1 },
      flood: 0,
      meanReward: 0.25,
      vetoed: 3,
      vetoedBy: { 'broken-calls': 1, inaction: 2 },
      age: null,
      lags: {},
    })
    expect(said({ type: 'gathered', ...report })).toBe(
      'gather    8 of 12 sessions, mean reward 0.25, 1 demonstrations, 2 preferences · vetoed: broken-calls 1, inaction 2 · left out: unsettled 3, missing-reward 1',
    )
  })

  it('tell of demonstrations that nobody imitates', () => {
    const report = EvidenceReport.parse({
      asOf: 0,
      seen: 1,
      sessions: 1,
      credited: 1,
      demonstrations: 0,
      pairs: 0,
      unknownTools: 2,
      dropped: {},
      flood: 0,
      meanReward: null,
      vetoed: 0,
      age: null,
      lags: {},
    })
    expect(said({ type: 'gathered', ...report })).toContain('refused: 2 that call unknown tools')
  })

  it('show what comes from outside on one line, and moving no cursor', () => {
    const line = said({ type: 'waiting', agent: 'a', reason: 'what serves is pinned: \u001b[2J\nreleased' })
    expect(line).toBe('wait      what serves is pinned: �[2J released')
  })
})
