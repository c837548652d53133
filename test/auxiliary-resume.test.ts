import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineAgent, user, weights } from '../src/agent/index.ts'
import type { ModelService, RunId, Store } from '../src/core/index.ts'
import { leaveOneOut } from '../src/credit/index.ts'
import { play } from '../src/environment/index.ts'
import { pairedGate } from '../src/gate/index.ts'
import { learn, type LearnEvent, rollouts } from '../src/learn/index.ts'
import { openEmbeddedModel } from '../src/model/index.ts'
import { imitate, policyGradient, protoValues, sequence } from '../src/optimize/weights/index.ts'
import { rubric, verifier } from '../src/reward/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { fruit, toldRight, wordsOf, worldOf } from './support/telling-worlds.ts'
import { writeTinyModel } from './tiny/model.ts'

let folder: string
let service: ModelService
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-auxiliary-run-'))
  writeTinyModel(join(folder, 'tiny'), { words: wordsOf([fruit]) })
  service = (await openEmbeddedModel({ reference: join(folder, 'tiny'), renderer: 'compact', deterministic: true }))
    .service
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

const { environment, tasks, expert } = worldOf(fruit)

interface Change {
  readonly resume?: RunId
  readonly signal?: AbortSignal
  readonly onEvent?: (event: LearnEvent) => void
}

/** Imitates and practises with auxiliary tasks, the same ones in both. @returns what the updates told, and the adapter. */
async function run(store: Store, { onEvent, ...change }: Change = {}) {
  const auxiliary = protoValues({ outputs: 4, returns: true })
  const demonstrations = await Promise.all(tasks.slice(0, 8).map((task) => play(environment, expert, task, toldRight)))
  const events: LearnEvent[] = []
  const summary = await learn(
    defineAgent({
      name: 'teller',
      parameters: { model: weights({ base: service.base, rank: 8 }) },
      run: (task, { model }, episode) => model.act([user(task.instruction)], episode),
    }),
    {
      model: service,
      store,
      source: rollouts(environment, tasks),
      prime: { demonstrations, supervised: { learningRate: 6e-3, batchSize: 4 } },
      reward: rubric({ told: verifier(toldRight) }),
      credit: leaveOneOut(),
      optimize: { model: sequence(policyGradient({ learningRate: 3e-3, auxiliary }), imitate({ auxiliary })) },
      method: { kind: 'lora', rank: 8, alpha: 16 },
      gate: pairedGate({ margin: 0, alpha: 0.05 }),
      budget: { turns: 4, tokensPerTurn: 8 },
      schedule: {
        primePasses: 10,
        augmentation: 0,
        rewording: 0,
        updates: 4,
        tasks: 4,
        attempts: 6,
        validateEvery: 4,
        averaging: 0,
        patience: null,
        silentUpdates: 0,
      },
      seed: 1,
      deterministic: true,
      ...change,
      onEvent: (event) => {
        events.push(event)
        onEvent?.(event)
      },
    },
  )
  const updates = events.flatMap((event) => {
    if (event.type !== 'updated') return []
    const { update, rollouts: attempts, metrics, tokensSampled } = event
    return [{ update, attempts, metrics, tokensSampled }]
  })
  const checkpoint = await store.runs.latestCheckpoint(summary.runId)
  return { updates, learned: summary.learned, blobs: checkpoint?.blobs }
}

it('a run with auxiliary tasks is resumed as if it had never ended: its head is part of its state', async () => {
  const whole = await openMemoryStore()
  const expected = await run(whole)
  const told = expected.updates.map(({ metrics }) => metrics['auxiliaryLoss'])
  expect(told.some((loss) => (loss ?? 0) > 0)).toBe(true)

  const cut = await openMemoryStore()
  const stop = new AbortController()
  const onEvent = (event: LearnEvent) => {
    if (event.type === 'updated' && event.update === 2) stop.abort(new Error('it ended'))
  }
  await expect(run(cut, { signal: stop.signal, onEvent })).rejects.toThrow('it ended')
  const [begun] = await cut.runs.list({ limit: 1 })
  const resumed = await run(cut, { resume: begun!.id })
  expect(resumed.updates.at(-1)).toEqual(expected.updates.at(-1))
  expect(resumed.learned).toEqual(expected.learned)
  // The trainer's state, head and moments included, bit for bit: blobs are named by their content.
  expect(resumed.blobs).toEqual(expected.blobs)
  await whole.close()
  await cut.close()
})
