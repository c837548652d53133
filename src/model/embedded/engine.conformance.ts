import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cellsOf, onceInAMillion, pairedChiSquare } from '../../../test/support/chi-square.ts'
import type {
  AdapterRef,
  Datum,
  Loss,
  ModelService,
  SampledChunk,
  SampledSequence,
  TrainingMethod,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'

/** What the suite needs of an implementation: sampler and trainer over one base model of at least 16 tokens. */
export type ConformingEngine = Pick<ModelService, 'sampler' | 'trainer' | 'loadAdapter' | 'close'>

/** How far a log-probability may be off between trainer and sampler (invariant 2). */
const tolerance = 1e-4

const lora = { kind: 'lora', rank: 4, alpha: 8 } as const
const prompt = [1, 2, 3, 4, 5, 6]
const noPolicyInputs = { cross_entropy: false, importance_sampling: true, ppo: true, cispo: true } as const

/** The sampled tokens as a datum: everything else has weight and advantage 0. */
function datumOf(
  tokens: readonly number[],
  { tokens: sampled, behaviourLogprobs }: SampledSequence,
  advantage = 1,
): Datum {
  const all = [...tokens, ...sampled]
  const at = (values: readonly number[]) => [...tokens.slice(1).map(() => 0), ...values]
  return {
    input: all.slice(0, -1),
    target: all.slice(1),
    weights: at(sampled.map(() => 1)),
    logprobs: at(behaviourLogprobs),
    advantages: at(sampled.map(() => advantage)),
  }
}

/**
 * What every Sampler with the Trainer beside it must hold, whatever runs it. `open` starts a fresh engine; the suite
 * closes it. A trainer without other temperatures is held to all of it at 1.
 * @param method what is trained. Default: a LoRA.
 * @param pace a factor on the learning rates: where few values learn, they have further to go.
 * @param streams whether tokens are told as they are sampled; otherwise all at once, when they are there.
 */
export function describeEngineConformance(
  name: string,
  open: () => Promise<ConformingEngine>,
  {
    streams = true,
    method = lora,
    pace = 1,
  }: { readonly streams?: boolean; readonly method?: TrainingMethod; readonly pace?: number } = {},
): void {
  describe(`${name}: a sampler and the trainer beside it`, () => {
    let engine: ConformingEngine
    beforeAll(async () => {
      engine = await open()
    }, 120_000)
    afterAll(() => engine.close())

    const sample = (adapter: AdapterRef | null, seed: number, temperature = 1, maxTokens = 16) =>
      engine.sampler.sample({ prompt, adapter, samples: 4, params: { maxTokens, temperature, seed } })
    const greedy = async (adapter: AdapterRef | null) => {
      const [sequence] = await engine.sampler.sample({ prompt, adapter, params: { maxTokens: 12, temperature: 0 } })
      return present(sequence, 'the sequence')
    }
    /** The temperature, or 1 where the trainer knows no other. */
    const possible = async (temperature: number) =>
      (await engine.trainer(method, 1)).capabilities.temperatures ? temperature : 1
    /** A trainer whose weights differ from the base. */
    const trained = async (steps: number, seed = 1) => {
      const trainer = await engine.trainer(method, seed)
      for (let step = 0; step < steps; step++) {
        await trainer.forwardBackward([{ input: prompt, target: [7, 8, 9, 10, 11, 12] }], { kind: 'cross_entropy' })
        await trainer.optimStep({ learningRate: 0.02 * pace })
      }
      return trainer
    }

    it.each([1, 0.8, 1.3])('samples on policy at temperature %d: every ratio is 1 ± 1e-4', async (wanted) => {
      const temperature = await possible(wanted)
      const trainer = await trained(3)
      const samples = await sample(await trainer.publish(), 1, temperature)
      const data = samples.map((sequence) => datumOf(prompt, sequence))
      const { logprobs } = await trainer.forwardBackward(data, { kind: 'importance_sampling', temperature })
      samples.forEach(({ behaviourLogprobs }, index) => {
        const ofTrainer = (logprobs[index] ?? []).slice(prompt.length - 1)
        expect(ofTrainer).toHaveLength(behaviourLogprobs.length)
        ofTrainer.forEach((logprob, i) =>
          expect(Math.abs(Math.exp(logprob - Number(behaviourLogprobs[i])) - 1)).toBeLessThan(tolerance),
        )
      })
    })

    it('reports log-probabilities at temperature 1 whatever it samples at', async () => {
      const trainer = await trained(1)
      const samples = await sample(await trainer.publish(), 5, await possible(0.6))
      const { logprobs } = await trainer.forwardBackward(
        samples.map((sequence) => datumOf(prompt, sequence)),
        { kind: 'cross_entropy' },
      )
      samples.forEach((sequence, index) => {
        const ofTrainer = (logprobs[index] ?? []).slice(prompt.length - 1)
        ofTrainer.forEach((logprob, i) =>
          expect(Math.abs(logprob - Number(sequence.logprobs[i]))).toBeLessThan(tolerance),
        )
      })
    })

    it('takes any loss by its slopes: importance sampling from what was just measured steps as the loss itself does', async () => {
      const [itself, bySlopes] = [await trained(2), await trained(2)]
      const temperature = await possible(0.8)
      const samples = await sample(await itself.publish(), 6, temperature)
      // As if another policy had sampled: ratios from 0.5 to 2, some past the bounds.
      const data = samples.map((sequence, index) => {
        const { logprobs = [], advantages = [], ...rest } = datumOf(prompt, sequence, index % 2 === 0 ? 1 : -0.5)
        const moved = (t: number) => (advantages[t] === 0 ? 0 : Math.log(2) * (((index + t) % 5) / 2 - 1))
        return { ...rest, advantages, logprobs: logprobs.map((logprob, t) => logprob + moved(t)) }
      })
      await itself.forwardBackward(data, { kind: 'cispo', clipLow: 0.8, clipHigh: 1.2, temperature })
      const measured = await bySlopes.forward(data, temperature)
      const weighed = data.map((datum, index) => {
        const now = measured[index] ?? []
        const weightOf = (t: number) => Math.min(1.2, Math.max(0.8, Math.exp((now[t] ?? 0) - (datum.logprobs[t] ?? 0))))
        const advantages = datum.advantages.map((advantage, t) => (advantage === 0 ? 0 : advantage * weightOf(t)))
        return { ...datum, logprobs: now, advantages }
      })
      await bySlopes.forwardBackward(weighed, { kind: 'importance_sampling', temperature })
      const step = { learningRate: 0.01 }
      const [expected, found] = [await itself.optimStep(step), await bySlopes.optimStep(step)]
      expect((found.gradNorm ?? 1) / (expected.gradNorm ?? 1)).toBeCloseTo(1, 3)
      const moves: number[] = []
      const after = await Promise.all([itself.forward(data, temperature), bySlopes.forward(data, temperature)])
      after[0].forEach((logprobs, index) => {
        logprobs.slice(prompt.length - 1).forEach((logprob, i) => {
          const now = after[1][index]?.[prompt.length - 1 + i] ?? 0
          expect(Math.abs(now - logprob)).toBeLessThan(10 * tolerance)
          moves.push(Math.abs(now - (measured[index]?.[prompt.length - 1 + i] ?? 0)))
        })
      })
      expect(Math.max(...moves)).toBeGreaterThan(100 * tolerance)
    })

    it('measures log-probabilities without a step: those of the sampler, whatever is accumulated', async () => {
      const trainer = await trained(2)
      const temperature = await possible(0.7)
      const samples = await sample(await trainer.publish(), 8, temperature)
      const data = samples.map((sequence) => datumOf(prompt, sequence))
      await trainer.forwardBackward(data, { kind: 'cross_entropy' })
      const measured = await trainer.forward(data, temperature)
      samples.forEach(({ behaviourLogprobs }, index) => {
        const ofTrainer = (measured[index] ?? []).slice(prompt.length - 1)
        expect(measured[index]).toHaveLength(data[index]?.input.length ?? 0)
        ofTrainer.forEach((logprob, i) =>
          expect(Math.abs(logprob - Number(behaviourLogprobs[i]))).toBeLessThan(tolerance),
        )
      })
      const alone = await trained(2)
      await alone.forwardBackward(data, { kind: 'cross_entropy' })
      const [found, expected] = [
        await trainer.optimStep({ learningRate: 0 }),
        await alone.optimStep({ learningRate: 0 }),
      ]
      expect(found.gradNorm ?? -1).toBeCloseTo(expected.gradNorm ?? -1, 3)
    })

    it('holds on to what it knew, where it can, and tells what that costs', async () => {
      const trainer = await trained(2)
      if (trainer.anchoring === null) return
      const learn = async () => {
        await trainer.forwardBackward([{ input: prompt, target: prompt }], { kind: 'cross_entropy' })
        return trainer.optimStep({ learningRate: 0.02 })
      }
      expect((await learn()).anchorPenalty).toBe(0)
      const anchor = await trainer.anchoring.importance([{ input: prompt, target: [7, 8, 9, 10, 11, 12] }])
      await trainer.anchoring.hold([anchor], 10)
      expect((await learn()).anchorPenalty).toBe(0)
      const { anchorPenalty } = await learn()
      expect(anchorPenalty).toBeGreaterThan(0)
      const restored = await engine.trainer(method, 9)
      await restored.loadState(await trainer.saveState())
      const [expected, found] = [await learn(), await restored.optimStep({ learningRate: 0 })]
      expect(found.anchorPenalty).toBeCloseTo(expected.anchorPenalty, 4)
      await trainer.anchoring.hold([], 10)
      expect((await learn()).anchorPenalty).toBe(0)
    })

    it.runIf(method.kind === 'lora')('publishes a fresh adapter that is the base model', async () => {
      const trainer = await engine.trainer(method, 3)
      expect(await greedy(await trainer.publish())).toEqual(await greedy(null))
    })

    it('keeps what a reference means when training goes on (invariant 11)', async () => {
      const base = await greedy(null)
      const trainer = await trained(2)
      const first = await trainer.publish()
      const before = await greedy(first)
      await trainer.forwardBackward([{ input: prompt, target: [9, 9, 9, 9, 9, 9] }], { kind: 'cross_entropy' })
      await trainer.optimStep({ learningRate: 0.05 })
      const second = await trainer.publish()
      expect(second.id).not.toBe(first.id)
      const [again, after, stillBase] = await Promise.all([greedy(first), greedy(second), greedy(null)])
      expect(again.tokens).toEqual(before.tokens)
      again.logprobs.forEach((logprob, i) => expect(logprob).toBeCloseTo(Number(before.logprobs[i]), 4))
      expect(after.logprobs).not.toEqual(before.logprobs)
      expect(stillBase.tokens).toEqual(base.tokens)
    })

    it('learns what it is trained on', async () => {
      const trainer = await trained(30)
      const sequence = await engine.sampler.sample({
        prompt: prompt.slice(0, 1),
        adapter: await trainer.publish(),
        params: { maxTokens: 1, temperature: 0 },
      })
      // A soft prompt says what is likely, and hardly what follows on what.
      const learned = method.kind === 'prompt' ? [7, 8, 9, 10, 11, 12] : [7]
      expect(learned).toContain(sequence[0]?.tokens[0])
    })

    it('goes on from a saved state as if nothing had happened', async () => {
      const step = async (trainer: Awaited<ReturnType<typeof trained>>) => {
        const { loss } = await trainer.forwardBackward([{ input: prompt, target: prompt.map((token) => token + 1) }], {
          kind: 'cross_entropy',
        })
        return { loss, ...(await trainer.optimStep({ learningRate: 0.01 })) }
      }
      const original = await trained(3)
      const state = await original.saveState()
      const restored = await engine.trainer(method, 99)
      await restored.loadState(state)
      for (let i = 0; i < 3; i++) {
        const [expected, found] = [await step(original), await step(restored)]
        expect(found.step).toBe(expected.step)
        expect(found.loss).toBeCloseTo(expected.loss, 4)
        expect((found.gradNorm ?? 1) / (expected.gradNorm ?? 1)).toBeCloseTo(1, 3)
      }
    })

    it('closes a trainer, twice if need be: what it published stays, and other trainers go on', async () => {
      const [closing, other] = [await trained(2), await trained(1)]
      const adapter = await closing.publish()
      const before = (await greedy(adapter)).tokens
      await closing.close()
      await closing.close()
      expect((await greedy(adapter)).tokens).toEqual(before)
      await expect(closing.saveState()).rejects.toThrow()
      await other.forwardBackward([{ input: prompt, target: [7, 8, 9, 10, 11, 12] }], { kind: 'cross_entropy' })
      expect(await other.optimStep({ learningRate: 0.01 })).toMatchObject({ step: 2 })
    })

    it('round-trips weights through what it saved: to the sampler, and to another trainer', async () => {
      const trainer = await trained(3)
      const saved = await trainer.saveWeights()
      expect(saved instanceof Uint8Array).toBe(trainer.capabilities.saves === 'bytes')
      const loaded = await greedy(await engine.loadAdapter(saved))
      const published = await greedy(await trainer.publish())
      expect(loaded).toEqual(published)
      const other = await engine.trainer(method, 50)
      await other.loadWeights(saved)
      expect(await greedy(await other.publish())).toEqual(published)
      if (saved instanceof Uint8Array) expect(await other.saveWeights()).toEqual(saved)
    })

    it('lets go of what its server keeps, and of nothing else', async () => {
      const trainer = await trained(1)
      const [state, other] = [await trainer.saveState(), await trainer.saveState()]
      if (state instanceof Uint8Array) return trainer.discard({ at: 'trainer', uri: 'server://nowhere' })
      await trainer.discard(state)
      await trainer.discard(state)
      await expect(trainer.loadState(state)).rejects.toThrow()
      await trainer.loadState(other)
    })

    it('says which losses it knows', async () => {
      const trainer = await engine.trainer(method, 1)
      const policy = { logprobs: [-1, -1, -1], advantages: [1, 1, 1] }
      for (const kind of trainer.capabilities.losses) {
        const { loss } = await trainer.forwardBackward([{ input: [1, 2, 3], target: [2, 3, 4], ...policy }], { kind })
        expect(loss).not.toBe(0)
      }
    })

    it.each(Object.entries(noPolicyInputs))('%s validates its inputs', async (kind, needsPolicy) => {
      const trainer = await engine.trainer(method, 1)
      const datum = { input: [1, 2, 3], target: [2, 3, 4] }
      const run = (one: Datum) => trainer.forwardBackward([one], { kind } as Loss)
      const complete = { ...datum, logprobs: [-1, -1, -1], advantages: [1, 1, 1] }
      await expect(run(complete)).resolves.toMatchObject({ tokens: { data: 3 } })
      if (needsPolicy) {
        await expect(run(datum)).rejects.toMatchObject({ code: expect.stringMatching(/^model\//) })
        await expect(run({ ...datum, logprobs: [-1, -1, -1] })).rejects.toMatchObject({ hint: expect.any(String) })
      }
      await expect(run({ ...complete, target: [2, 3] })).rejects.toThrow(/target/)
      await expect(run({ ...complete, weights: [1] })).rejects.toThrow(/weights/)
      await expect(run({ ...complete, input: [1, -2, 3] })).rejects.toThrow(/-2/)
    })

    it('returns as many independent continuations as asked for, one entry a token', async () => {
      const samples = await sample(null, 11)
      expect(samples).toHaveLength(4)
      for (const { tokens, logprobs, behaviourLogprobs, stopReason } of samples) {
        expect(logprobs).toHaveLength(tokens.length)
        expect(behaviourLogprobs).toHaveLength(tokens.length)
        expect(stopReason).toBe('length')
      }
      expect(new Set(samples.map(({ tokens }) => tokens.join())).size).toBe(4)
    })

    it.each([0, 2 ** 32 - 512, Number.MAX_SAFE_INTEGER - 1024, -512])(
      'draws anew from every one of the seeds from %d on (χ² of their first tokens, p > 1e-6)',
      async (seed) => {
        const request = { prompt, adapter: null, samples: 2048, params: { maxTokens: 1, temperature: 1, seed } }
        const drawn = await engine.sampler.sample(request)
        const cell = cellsOf(drawn)
        expect(cell.mass.length).toBeGreaterThan(1)
        for (const lag of [1, 2]) {
          const { chiSquare, freedom } = pairedChiSquare(drawn.map(cell.of), cell.mass, lag)
          expect(chiSquare).toBeLessThan(onceInAMillion(freedom))
        }
      },
    )

    it('gives greedy sequences a behaviour log-probability of 0', async () => {
      const { behaviourLogprobs, logprobs } = await greedy(null)
      expect(behaviourLogprobs.every((logprob) => logprob === 0)).toBe(true)
      expect(logprobs.every((logprob) => logprob < 0)).toBe(true)
    })

    it('ends after a stop token, which is part of the result', async () => {
      const { tokens } = await greedy(null)
      const stop = present(tokens[3], 'a fourth token')
      const [stopped] = await engine.sampler.sample({
        prompt,
        adapter: null,
        params: { maxTokens: 12, temperature: 0, stopTokens: [stop] },
      })
      expect(stopped?.stopReason).toBe('stop')
      expect(stopped?.tokens).toEqual(tokens.slice(0, tokens.indexOf(stop) + 1))
    })

    it('tells every token in order, of each continuation, before it returns them', async () => {
      const told = new Map<number, SampledChunk[]>()
      const onTokens = (chunk: SampledChunk) => {
        expect(chunk.tokens.length).toBeGreaterThan(0)
        told.set(chunk.sample, [...(told.get(chunk.sample) ?? []), chunk])
      }
      const params = { maxTokens: 16, temperature: await possible(0.9), seed: 3 }
      const samples = await engine.sampler.sample({ prompt, adapter: null, samples: 3, params, onTokens })
      samples.forEach(({ tokens, behaviourLogprobs, logprobs }, index) => {
        const chunks = told.get(index) ?? []
        expect(chunks.flatMap((chunk) => chunk.tokens)).toEqual(tokens)
        expect(chunks.flatMap((chunk) => chunk.behaviourLogprobs)).toEqual(behaviourLogprobs)
        expect(chunks.flatMap((chunk) => chunk.logprobs)).toEqual(logprobs)
      })
      expect(told.size).toBe(3)
      const unheard = await engine.sampler.sample({ prompt, adapter: null, samples: 3, params })
      expect(unheard.map(({ tokens }) => tokens)).toEqual(samples.map(({ tokens }) => tokens))
    })

    it.skipIf(!streams)('tells what it returns of a continuation that the caller cancels', async () => {
      const controller = new AbortController()
      const room = engine.sampler.capabilities.contextLength - prompt.length
      const told: number[] = []
      const [cancelled] = await engine.sampler.sample({
        prompt,
        adapter: null,
        params: { maxTokens: room },
        signal: controller.signal,
        onTokens({ tokens }) {
          told.push(...tokens)
          controller.abort()
        },
      })
      expect(cancelled?.stopReason).toBe('cancelled')
      expect(told.length).toBeGreaterThan(0)
      expect(cancelled?.tokens).toEqual(told)
    })

    it('returns the tokens so far when the caller cancels', async () => {
      const controller = new AbortController()
      const room = engine.sampler.capabilities.contextLength - prompt.length
      const request = { prompt, adapter: null, params: { maxTokens: room }, signal: controller.signal }
      const pending = engine.sampler.sample(request)
      setTimeout(() => controller.abort(), 5)
      const [cancelled] = await pending
      expect(cancelled?.stopReason).toBe('cancelled')
      expect(cancelled?.logprobs).toHaveLength(Number(cancelled?.tokens.length))
      const [never] = await engine.sampler.sample(request)
      expect(never).toMatchObject({ stopReason: 'cancelled', tokens: [] })
    })

    it('refuses prompts that it cannot continue', async () => {
      const { vocabularySize, contextLength } = engine.sampler.capabilities
      const attempt = (tokens: readonly number[]) =>
        engine.sampler.sample({ prompt: tokens, adapter: null, params: { maxTokens: 1 } })
      await expect(attempt([])).rejects.toThrow(/empty/)
      await expect(attempt([1, vocabularySize])).rejects.toThrow(String(vocabularySize))
      await expect(attempt([1, -1])).rejects.toThrow(/-1/)
      await expect(attempt(Array(contextLength + 1).fill(1))).rejects.toThrow(String(contextLength))
      await expect(engine.sampler.sample({ prompt, adapter: null, params: { maxTokens: 0 } })).rejects.toMatchObject({
        code: expect.stringMatching(/^model\//),
      })
    })

    it('forgets an adapter after the requests that use it', async () => {
      const trainer = await trained(1)
      const adapter = await trainer.publish()
      const expected = await greedy(adapter)
      const pending = greedy(adapter)
      await engine.sampler.unload(adapter)
      expect((await pending).tokens).toEqual(expected.tokens)
      await expect(greedy(adapter)).rejects.toMatchObject({ code: expect.stringMatching(/^model\//) })
      await expect(engine.sampler.unload(adapter)).rejects.toThrow()
    })
  })
}
