import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { servedAgent, weights } from '../src/agent/index.ts'
import { serveReleases } from '../src/cli/serve/serve-releases.ts'
import { defaultTenant, isWhole, type ModelService, parseInput, stepsByAction, type Store } from '../src/core/index.ts'
import { type RunningGateway, ServeConfig } from '../src/gateway/index.ts'
import {
  learn,
  LearnFromTrafficConfig,
  type LearnerEvent,
  startLearner,
  traffic,
  type LearnEvent,
  trafficLearner,
} from '../src/learn/index.ts'
import { chatUpstream, openEmbeddedModel } from '../src/model/index.ts'
import { policyGradient } from '../src/optimize/weights/index.ts'
import { rubric, signal } from '../src/reward/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { writeTinyModel } from './tiny/model.ts'
import { shadow } from '../src/learn/index.ts'

let folder: string
let service: ModelService
let store: Store
let gateway: RunningGateway
beforeAll(async () => {
  vi.stubEnv('RATCHET_LOG_LEVEL', 'silent')
  folder = mkdtempSync(join(tmpdir(), 'ratchet-learner-'))
  const reference = join(folder, 'tiny')
  writeTinyModel(reference, { words: ['red', 'blue'] })
  service = (await openEmbeddedModel({ reference })).service
  store = await openMemoryStore()
  const upstream = chatUpstream({ name: 'tiny', service, adapterBytes: (hash) => store.blobs.get(hash) })
  const agents = [{ name: 'painter', model: 'tiny', rank: 4 }]
  const config = parseInput(ServeConfig, { agents, port: 0 }, 'a configuration')
  gateway = await serveReleases({ config, store, upstream, exclusive: true })
})
afterAll(async () => {
  await gateway.close()
  await service.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const headers = (session: string) => ({
  'content-type': 'application/json',
  'ratchet-agent': 'painter',
  'ratchet-session': session,
})

async function ask(session: string): Promise<void> {
  const messages = [{ role: 'user', content: 'red or blue?' }]
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: headers(session),
    // A model of random weights does not end by itself. Each session says the same in each run of this test.
    body: JSON.stringify({
      model: 'tiny',
      messages,
      stop: ['red', 'blue', 'a', 'e'],
      max_tokens: 100,
      seed: parseInt(session, 36),
    }),
  })
  expect(response.ok, await response.text()).toBe(true)
}

/** Asks in a session. @returns what answered in it. */
async function served(session: string) {
  await ask(session)
  const [record] = await store.trajectories.list({ session, limit: 1 })
  const { origin, decisions } = record!.trajectory
  return { arm: (origin.kind === 'traffic' ? origin.servedBy?.canary?.arm : null) ?? 'none', decisions }
}

/** @returns the first of some sessions whose answer came to its end. */
async function firstWhole(sessions: readonly string[]): Promise<string> {
  for (const session of sessions) {
    const [record] = await store.trajectories.list({ session, limit: 1 })
    if (record && isWhole(record.trajectory.nodes, stepsByAction(record.trajectory))) return session
  }
  throw new Error('No answer came to its end.')
}

async function say(session: string, signal: object): Promise<void> {
  const response = await fetch(`${gateway.url}/ratchet/signals`, {
    method: 'POST',
    headers: headers(session),
    body: JSON.stringify({ session, ...signal }),
  })
  expect(response.ok, await response.text()).toBe(true)
}

it('an agent behind the gateway learns from what its users say, and a share of them get what came of it', async () => {
  for (let i = 0; i < 24; i++) {
    await ask(`s${i}`)
    await say(`s${i}`, { name: 'thumbs', value: i % 2 === 0 })
  }
  // An answer that was cut off at its most tokens cannot be edited into a lesson, and chance decides which those are.
  const whole = await firstWhole(Array.from({ length: 12 }, (_, i) => `s${2 * i}`))
  await say(whole, { name: 'edit', value: { kind: 'edit', text: 'red' } })

  const config = parseInput(
    LearnFromTrafficConfig,
    {
      mode: 'automatic',
      every: '1s',
      minEpisodes: 10,
      settle: '0s',
      watchEvery: '1s',
      judgeAfter: '1s',
      policy: { learningRate: 1e-3, minibatches: 2 },
      schedule: { epochs: 2 },
      reporters: { share: 1, trusted: ['open'] },
      rubric: { implicit: false },
      canary: { shares: [0.5], sessionsPerStep: 4, promote: 'behaviour-only' },
    },
    'a configuration',
  )
  const events: (LearnerEvent | LearnEvent)[] = []
  const told = new Promise<LearnerEvent & { type: 'learned' }>((resolve) => {
    const agent = servedAgent({ name: 'painter', parameters: { model: weights({ base: service.base, rank: 4 }) } })
    const learner = startLearner(
      trafficLearner({
        agent,
        tenant: defaultTenant,
        config,
        store,
        openModel: () => Promise.resolve({ ...service, close: () => Promise.resolve() }),
        onEvent(event) {
          events.push(event)
          if (event.type === 'learned') void learner.stop().then(() => resolve(event))
        },
      }),
    )
  })
  const { summary } = await told
  expect(events.filter(({ type }) => type === 'problem')).toEqual([])
  expect(summary).toMatchObject({
    outcome: 'canary',
    learned: { seen: 24, sessions: 24, credited: 24, pairs: 1, dropped: {} },
    passes: { demonstrations: 2, preferences: 1 },
  })
  // The edit, and of the eleven others that were liked those that came to an end.
  expect(summary.learned?.demonstrations).toBeGreaterThan(1)
  expect(summary.learned?.demonstrations).toBeLessThanOrEqual(12)
  expect(summary.passes.epochs).toBeGreaterThan(0)

  // The gateway hears of a canary soon, and not at once.
  let asked = 0
  await expect.poll(async () => (await served(`w${asked++}`)).arm, { timeout: 30_000 }).not.toBe('none')
  const arms = new Map<string, number>()
  for (let i = 0; i < 24; i++) {
    const { arm, decisions } = await served(`t${i}`)
    arms.set(arm, (arms.get(arm) ?? 0) + 1)
    const version = arm === 'candidate' ? summary.candidate : (await store.versions.get(summary.candidate!))!.parents[0]
    expect(decisions.map((decision) => decision.version)).toEqual([version])
  }
  expect(arms.get('candidate')).toBeGreaterThan(0)
  expect(arms.get('baseline')).toBeGreaterThan(0)
})

it('fresh samples are on-policy to the trainer: their ratio is 1', async () => {
  const seen: LearnEvent[] = []
  for (let i = 0; i < 24; i++) {
    await say(`t${i}`, { name: 'thumbs', value: i % 2 === 0 })
  }
  await learn(servedAgent({ name: 'painter', parameters: { model: weights({ base: service.base, rank: 4 }) } }), {
    model: { ...service, close: () => Promise.resolve() },
    store,
    source: traffic({ agent: 'painter', settle: '0s' }),
    reward: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
    optimize: { model: policyGradient({ minibatches: 1 }) },
    release: shadow(),
    schedule: { epochs: 1, replay: 0 },
    onEvent: (event) => seen.push(event),
  })
  const gathered = seen.find((event) => event.type === 'gathered')!
  expect(gathered).toMatchObject({ dropped: { used: 24 } })
  expect((gathered as { dropped: Record<string, number> }).dropped['candidate-arm']).toBeGreaterThan(0)
  const practised = seen.find((event) => event.type === 'practised') as Extract<LearnEvent, { type: 'practised' }>
  expect(practised.metrics['ratioMean']).toBeCloseTo(1, 4)
  expect(practised.metrics['ratioMax']).toBeCloseTo(1, 3)
})
