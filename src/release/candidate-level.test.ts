import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Canary, RunId, type Store, TaskId } from '../core/index.ts'
import { CanaryLevel, canaryGate, claimHoldout, claimLevel, levelOf, replay } from '../gate/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import {
  admissionOf,
  agent,
  base,
  canaryReceiptOf,
  model,
  prompt,
  quickGate,
  setOf,
} from '../../test/support/canary-parts.ts'
import { OtherCanaryError } from './canary-errors.ts'
import { type NewCanary, Registry } from './index.ts'

const fdr = { alpha: 0.1, control: 'fdr' } as const

let store: Store
let registry: Registry
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
})
afterEach(() => store.close())

let at = 10
const start = (options: Partial<NewCanary> = {}) => {
  at += 1
  const versions = [prompt(`candidate ${at}`)]
  return registry.startCanary({ agent, versions, admission: null, run: null, gate: quickGate, at, ...options })
}
const levelIn = ({ gate }: Canary) => CanaryLevel.parse(gate.config['level'])
const back = ({ id }: Canary) => registry.rollBackCanary(id, { reasons: ['by hand'] })

it('candidates of an agent spend one alpha, and a promotion gives the next ones more', async () => {
  const first = await start()
  expect(levelIn(first)).toEqual({ candidate: 1, promotions: 0, alpha: levelOf(fdr, 1, 0) })
  await back(first)
  const second = await start()
  expect(levelIn(second)).toEqual({ candidate: 2, promotions: 0, alpha: levelOf(fdr, 2, 0) })
  const { release } = await registry.promoteCanary(
    canaryReceiptOf(second, (await registry.current(agent)).release.versions),
  )
  const third = await start()
  expect(levelIn(third)).toEqual({ candidate: 3, promotions: 1, alpha: levelOf(fdr, 3, 1) })
  // What was promoted stays counted: it was a promotion, right or wrong.
  await registry.rollback(agent)
  expect((await registry.current(agent)).release.id).not.toBe(release.id)
  expect(levelIn(await start())).toMatchObject({ candidate: 4, promotions: 1 })
})

it('a canary has its own alpha where that is less, or where nothing bounds the life of its agent', async () => {
  const strict = await start({ gate: canaryGate({ ...quickGate.config, alpha: 0.001 }) })
  expect(levelIn(strict).alpha).toBe(0.001)
  await back(strict)
  const unbounded = await start({ gate: canaryGate({ ...quickGate.config, lifetime: null }) })
  expect(unbounded.gate.config).toEqual({ ...quickGate.config, lifetime: null })
})

it('a promotion asks for the level, and the receipt holds it', async () => {
  const canary = await start()
  const { versions } = (await registry.current(agent)).release
  const { level: _, ...config } = canary.gate.config
  const atAlpha = canaryReceiptOf({ ...canary, gate: { ...canary.gate, config } }, versions)
  await expect(registry.promoteCanary(atAlpha)).rejects.toThrow(OtherCanaryError)
  const receipt = canaryReceiptOf(canary, versions)
  expect(receipt.gate.config['level']).toEqual(levelIn(canary))
  expect(receipt.reasons).toContainEqual('It is candidate 1 of the agent, after 0 promotions: its level is 0.0383.')
  expect(replay(receipt)).toBe('promote')
  await registry.promoteCanary(receipt)
})

it('what shows a gain at alpha and not at the level waits', () => {
  const sessions = Array.from({ length: 400 }, (_, i) => ({
    trajectory: `t${i}`,
    arm: i % 2 === 0 ? 'candidate' : 'baseline',
    propensity: 0.5,
    reward: i % 2 === 0 ? Number(i % 20 < 12) : Number(i % 20 < 10),
    guards: {},
  })) as never
  const seen = { sessions, step: 0, sessionsInStep: 200, rewardRange: [0, 1] as const }
  const gate = canaryGate({ shares: [0.5], sessionsPerStep: 10, promote: 'behaviour-only' })
  const { evidence } = gate.look(seen)
  const { eValue } = evidence['gain'] as { eValue: number }
  expect(eValue).toBeGreaterThan(1)
  const [above, below] = [1.1 / eValue, 0.9 / eValue].map((alpha) =>
    gate.look({ ...seen, level: { candidate: 1, promotions: 0, alpha } }),
  )
  expect([above?.action, below?.action]).toEqual(['promote', 'wait'])
})

it('a candidate that its run tested on held-out tasks has one level for both tests', async () => {
  const run = RunId.parse('run-1')
  const tasks = ['a', 'b'].map((id) => ({ id: TaskId.parse(id) })) as never
  const { level, use } = await store.transaction(async (tx) => {
    await claimLevel(tx.levels, { agent, key: 'another', lifetime: fdr, at: 1 })
    const claimed = await claimLevel(tx.levels, { agent, key: run, lifetime: fdr, at: 1 })
    return {
      level: claimed,
      use: await claimHoldout(tx.ledger, { tasks, alpha: 0.05, level: claimed.alpha, run, at: 1 }),
    }
  })
  expect(use.alpha).toBe(levelOf(fdr, 2, 0))
  const candidate = prompt('tested')
  const admission = admissionOf(setOf(model, base), setOf(model, candidate))
  const canary = await start({ versions: [candidate], admission, run })
  expect(levelIn(canary)).toEqual({ candidate: 2, promotions: 0, alpha: level.alpha })
  await registry.promoteCanary(canaryReceiptOf(canary, setOf(model, base)))
  expect(await store.levels.get(agent, run)).toEqual({ ...level, promoted: true })
  expect(await store.levels.countPromoted(agent)).toBe(1)
})

it('a release straight from held-out tasks counts as a promotion', async () => {
  const run = RunId.parse('run-1')
  await store.transaction((tx) => claimLevel(tx.levels, { agent, key: run, lifetime: fdr, at: 1 }))
  const candidate = prompt('tested')
  const receipt = admissionOf(setOf(model, base), setOf(model, candidate))
  await registry.promote({ receipt, versions: [candidate], run })
  expect(levelIn(await start())).toMatchObject({ candidate: 2, promotions: 1 })
})
