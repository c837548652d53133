import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  type AuditedParts,
  auditedParts,
  armAt,
  auditedConfig,
  promotedByLabels,
} from '../../../test/support/audited-canary.ts'
import { agent, base, model, prompt, setOf, thumb } from '../../../test/support/canary-parts.ts'
import { servedReader } from '../../../test/support/learner-traffic.ts'
import { practisedModel } from '../../../test/support/practised-model.ts'
import type { Canary } from '../../core/index.ts'
import type { LearnFromTrafficConfig } from '../source/traffic/config.ts'
import { trafficLearner } from '../traffic-learner.ts'
import type { AuditVerifier } from './verifier.ts'

const better = prompt('Answer kindly.')

let parts: Omit<AuditedParts, 'config'>
beforeEach(async () => {
  parts = await auditedParts([model, base])
})
afterEach(() => parts.store.close())

/** What the learner of the agent looks at, look by look. */
function learner(config: LearnFromTrafficConfig, verifier?: AuditVerifier) {
  const told: string[] = []
  const { watch } = trafficLearner({
    agent: { ...servedReader, name: agent },
    tenant: 'default',
    config,
    store: parts.store,
    openModel: () => Promise.resolve(practisedModel().service),
    ...(verifier && { verifier }),
    onEvent: ({ type }) => told.push(type),
    clock: { now: () => parts.time.now },
  })
  return { watch: async () => watch?.(), told }
}
const labelled = async ({ id }: Canary) =>
  (await parts.store.audits.drawn(id)).filter(({ labels }) => labels.length > 0).length
const serves = async () => (await parts.registry.current(agent)).release.versions
const sequenceIn = (trajectory: string) => Number(trajectory.split('_').at(-1))

it('a verifier goes on with what was drawn of a canary after its promotion, and may take it back', async () => {
  const config = auditedConfig({ by: 'verifier' })
  const canary = await promotedByLabels({ ...parts, config }, better, { by: 'verifier', reviewer: 'verifier' })
  expect(await labelled(canary)).toBe(60)
  const { watch, told } = learner(config, ({ trajectory }) => armAt(sequenceIn(trajectory.id)) === 'baseline')
  await vi.waitFor(
    async () => {
      await watch()
      expect(told).toEqual(['reopened'])
    },
    { timeout: 30_000, interval: 5 },
  )
  expect(await serves()).toEqual(setOf(model, base))
})

it('an outcome that comes after the promotion is read when its time is over, and may take it back', async () => {
  const outcome = { signal: 'resolved', within: '1h', from: ['k_ops'] }
  const config = auditedConfig({ by: 'outcome', outcome })
  const canary = await promotedByLabels({ ...parts, config }, better, { by: 'outcome', reviewer: 'outcome' })
  const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 99_999 }
  const { store, time } = parts
  for (const { trajectory, sequence } of (await store.audits.drawn(canary.id)).slice(60)) {
    const told = { source: 'outcome', name: 'resolved', reporter: 'k_ops', key: `resolved ${sequence}` } as const
    const value = armAt(sequence) === 'baseline'
    await store.signals.append([{ ...thumb(trajectory, 0, time.now), ...told, value }], { caps, now: time.now })
  }
  const { watch, told } = learner(config)
  await watch()
  expect(await labelled(canary)).toBe(60)
  time.now += 3_600_000
  await watch()
  expect(await labelled(canary)).toBe(160)
  await watch()
  expect(told).toEqual(['reopened'])
  expect(await serves()).toEqual(setOf(model, base))
})

it('is asked for no longer than it can come: a verifier that stays out is told of once, and then left', async () => {
  const config = auditedConfig({ by: 'verifier', patience: '1d' })
  const canary = await promotedByLabels({ ...parts, config }, better, { by: 'verifier', reviewer: 'verifier' })
  const asked = vi.fn<AuditVerifier>(() => new Promise<never>(() => {}))
  const { watch } = learner(config, asked)
  await watch()
  await vi.waitFor(() => expect(asked).toHaveBeenCalled())
  const read = vi.spyOn(parts.store.audits, 'forJudge')
  parts.time.now += 2 * 86_400_000
  for (let i = 0; i < 3; i++) await watch()
  const before = read.mock.calls.length
  for (let i = 0; i < 3; i++) await watch()
  expect(read.mock.calls.length).toBe(before)
  const alerts = await parts.store.alerts.list({ agent, kind: 'audit', limit: 9 })
  expect(alerts.map(({ message }) => message)).toEqual([
    expect.stringContaining('was promoted and serves: what is not told cannot take it back'),
  ])
  expect(await labelled(canary)).toBe(60)
  expect((await serves())['system']).toBe(better.id)
})

it('people are asked by nobody after a promotion, and what they did not judge is no alert', async () => {
  const config = auditedConfig({ by: 'person', patience: '1d' })
  await promotedByLabels({ ...parts, config }, better)
  parts.time.now += 3 * 86_400_000
  await learner(config).watch()
  expect(await parts.store.alerts.list({ agent, kind: 'audit', limit: 9 })).toEqual([])
})
