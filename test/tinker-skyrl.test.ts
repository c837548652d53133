import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdapterRef, Datum, SampledSequence, Trainer, TrainerPath } from '../src/core/index.ts'
import { openTinkerModel, type TinkerEvent, type TinkerModelHandle } from '../src/model/tinker/index.ts'
import { installedVersion, testedVersions } from './support/tested-versions.ts'
import { makeTinyModel, type SkyrlServer, startSkyrl } from './support/skyrl-server.ts'

/*
 * SkyRL's real server on its JAX backend, on the CPU, with a tiny random model. It runs where RATCHET_TEST_SKYRL names the
 * Python of an environment with SkyRL 0.4.0 (Python ≥ 3.12):
 *   python3.12 -m venv venv && venv/bin/pip install 'skyrl[tinker,jax]==0.4.0' aiohttp
 * Elsewhere it is skipped, and says so.
 */
const python = process.env.RATCHET_TEST_SKYRL ?? ''
if (python === '')
  console.warn('SKIPPED: no SkyRL server was tested. Set RATCHET_TEST_SKYRL to the Python that has it.')

const lora = { kind: 'lora', rank: 4, alpha: 32 } as const
const prompt = [40, 41, 42, 43, 44, 45]
const answer = [50, 51, 52, 53, 54, 55]

/** One demonstration: the answer after the prompt. */
const all = [...prompt, ...answer]
const lesson: Datum = {
  input: all.slice(0, -1),
  target: all.slice(1),
  weights: all.slice(1).map((_, i) => (i >= prompt.length - 1 ? 1 : 0)),
}

function datumOf({ tokens, behaviourLogprobs }: SampledSequence, advantage: number): Datum {
  const whole = [...prompt, ...tokens]
  const at = (values: readonly number[]) => [...prompt.slice(1).map(() => 0), ...values]
  return {
    input: whole.slice(0, -1),
    target: whole.slice(1),
    logprobs: at(behaviourLogprobs),
    advantages: at(tokens.map(() => advantage)),
  }
}

async function teach(trainer: Trainer, steps: number): Promise<number[]> {
  const losses: number[] = []
  for (let step = 0; step < steps; step++) {
    losses.push((await trainer.forwardBackward([lesson], { kind: 'cross_entropy' })).loss)
    await trainer.optimStep({ learningRate: 0.01 })
  }
  return losses
}

describe.skipIf(python === '')("SkyRL's own server", () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-skyrl-'))
  const model = join(folder, 'tiny')
  const events: TinkerEvent[] = []
  let server: SkyrlServer
  let opened: TinkerModelHandle
  const open = () =>
    openTinkerModel({ url: server.url, baseModel: model, server: 'skyrl-jax', onEvent: (event) => events.push(event) })
  const restart = async () => {
    server = await startSkyrl(python, model, join(folder, 'served'))
    opened = await open()
  }

  beforeAll(async () => {
    makeTinyModel(python, model)
    await restart()
  })
  afterAll(async () => {
    await opened?.service.close()
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const sample = (adapter: AdapterRef | null, seed: number, samples = 8) =>
    opened.service.sampler.sample({ prompt, adapter, samples, params: { maxTokens: 6, seed } })
  const greedy = async (adapter: AdapterRef | null) => {
    const [sequence] = await opened.service.sampler.sample({
      prompt,
      adapter,
      params: { maxTokens: answer.length, temperature: 0 },
    })
    return sequence!
  }

  it('has the version that the docs name', () => {
    expect(installedVersion(python, 'skyrl')).toBe(testedVersions.skyrl)
  })

  it('learns a demonstration: the loss falls to less than half', async () => {
    const trainer = await opened.service.trainer(lora, 1)
    const losses = await teach(trainer, 30)
    expect(losses[0]).toBeGreaterThan(10)
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 2)
    const adapter = await trainer.publish()
    await opened.service.sampler.unload(adapter)
    await trainer.close()
  })

  it('samples log-probabilities that are those of `forward`, to 1e-3', async () => {
    const trainer = await opened.service.trainer(lora, 2)
    await teach(trainer, 3)
    const adapter = await trainer.publish()
    const samples = await sample(adapter, 11)
    const measured = await trainer.forward(samples.map((one) => datumOf(one, 0)))
    let most = 0
    for (const [i, { logprobs }] of samples.entries()) {
      const ofTrainer = measured[i]!.slice(prompt.length - 1)
      expect(ofTrainer).toHaveLength(logprobs.length)
      for (const [t, logprob] of ofTrainer.entries()) most = Math.max(most, Math.abs(logprob - logprobs[t]!))
    }
    console.log(`largest difference between sampled and measured log-probabilities: ${most}`)
    expect(most).toBeLessThan(1e-3)
    await trainer.close()
    await opened.service.sampler.unload(adapter)
  })

  it('keeps what a reference means while training goes on (invariant 11)', async () => {
    const trainer = await opened.service.trainer(lora, 3)
    await teach(trainer, 2)
    const [first, base] = [await trainer.publish(), await greedy(null)]
    const before = await greedy(first)
    await teach(trainer, 6)
    const taught = (await trainer.forward([lesson]))[0]!
    const second = await trainer.publish()
    expect((await greedy(first)).logprobs).toEqual(before.logprobs)
    expect((await greedy(second)).logprobs).not.toEqual(before.logprobs)
    expect((await greedy(null)).logprobs).toEqual(base.logprobs)
    // Sampling from the older weights has not put them back into the trainer.
    expect((await trainer.forward([lesson]))[0]).toEqual(taught)
    for (const adapter of [first, second]) await opened.service.sampler.unload(adapter)
    await trainer.close()
  })

  it.each(['importance_sampling', 'ppo', 'cispo'] as const)(
    'a policy gradient by %s raises the reward',
    async (kind) => {
      const trainer = await opened.service.trainer(lora, 4)
      const rewards: number[] = []
      for (let step = 0; step < 8; step++) {
        const adapter = await trainer.publish()
        const samples = await sample(adapter, 100 + step, 32)
        await opened.service.sampler.unload(adapter)
        // The share of small tokens: the tiny model has about 259.
        const scores = samples.map(({ tokens }) => tokens.filter((token) => token < 128).length / tokens.length)
        const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
        rewards.push(mean)
        const data = samples.map((one, i) => datumOf(one, (scores[i]! - mean) / samples.length))
        const { logprobs } = await trainer.forwardBackward(data, { kind })
        for (const [i, one] of samples.entries()) {
          const told = logprobs[i]!.slice(prompt.length - 1)
          told.forEach((logprob, t) => {
            if (logprob !== 0) expect(Math.abs(Math.exp(logprob - one.behaviourLogprobs[t]!) - 1)).toBeLessThan(1e-3)
          })
        }
        const { gradNorm } = await trainer.optimStep({ learningRate: 0.02 })
        expect(gradNorm).toBeGreaterThan(0)
      }
      console.log(`${kind}: rewards ${rewards.map((reward) => reward.toFixed(2)).join(' ')}`)
      expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.1)
      await trainer.close()
    },
  )

  it('goes on after the server was killed and started again: weights, optimizer and count of steps', async () => {
    const trainer = await opened.service.trainer(lora, 5)
    await teach(trainer, 4)
    const state = (await trainer.saveState()) as TrainerPath
    const weights = await trainer.saveWeights()
    const expected = await teach(trainer, 3)
    await server.kill()
    await opened.service.close()
    await restart()

    const resumed = await opened.service.trainer(lora, 6)
    await resumed.loadState(state)
    const found = await teach(resumed, 3)
    found.forEach((loss, i) => expect(loss).toBeCloseTo(expected[i]!, 3))
    expect((await resumed.optimStep({ learningRate: 0 })).step).toBe(8)

    const adapter = await opened.service.loadAdapter(weights)
    const other = await opened.service.trainer(lora, 7)
    await other.loadWeights(weights)
    const again = await other.publish()
    expect((await greedy(adapter)).logprobs).toEqual((await greedy(again)).logprobs)
    // The same weights with an optimizer that begins anew take another step.
    const anew = await teach(other, 3)
    expect(anew[0]).toBeCloseTo(expected[0]!, 3)
    expect(Math.abs(anew[2]! - expected[2]!)).toBeGreaterThan(1e-3)

    const run = state.uri.split('/')[2]!
    const kept = await opened.checkpoints.list(run)
    expect(kept.map(({ path }) => path)).toContain(state.uri)
    await resumed.discard(state)
    await resumed.discard(state)
    expect((await opened.checkpoints.list(run)).map(({ path }) => path)).not.toContain(state.uri)
    await expect(other.loadState(state)).rejects.toMatchObject({ code: 'model/tinker-refused', status: 404 })
  })

  it('adds up losses over tokens and sequences as the embedded engine does', async () => {
    // One gradient of a long and a short sequence must point where their sum points: a mean over each sequence does not.
    const long: Datum = { input: [1, 2, 3, 4, 5, 6, 7, 8], target: [2, 3, 4, 5, 6, 7, 8, 9] }
    const short: Datum = { input: [30, 31], target: [31, 32] }
    const normOf = async (data: readonly Datum[]) => {
      const trainer = await opened.service.trainer(lora, 8)
      await trainer.forwardBackward(data, { kind: 'cross_entropy' })
      const { gradNorm } = await trainer.optimStep({ learningRate: 0 })
      await trainer.close()
      return gradNorm!
    }
    const [alone, twice, doubled] = [
      await normOf([long]),
      await normOf([long, long]),
      await normOf([{ ...long, weights: long.input.map(() => 2) }]),
    ]
    expect(twice / alone).toBeCloseTo(2, 3)
    expect(doubled / alone).toBeCloseTo(2, 3)
    const halves = await normOf([
      { ...long, weights: [1, 1, 1, 1, 0, 0, 0, 0] },
      { ...long, weights: [0, 0, 0, 0, 1, 1, 1, 1] },
    ])
    expect(halves / alone).toBeCloseTo(1, 3)
    expect(await normOf([long, short])).toBeLessThan(alone + (await normOf([short])) + 1e-6)
  })
})
