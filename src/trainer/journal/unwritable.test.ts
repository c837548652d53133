import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Outcome, TrainerEvent, Work } from './events.ts'
import { Journal } from './journal.ts'

const number = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY))
const numbers = fc.array(number, { maxLength: 3 })
const whole = fc.oneof(fc.maxSafeInteger(), fc.constantFrom(2 ** 60, 0.5, Number.NaN))

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    kind: fc.constant('sample' as const),
    sequences: fc.array(fc.record({ tokens: numbers, logprobs: numbers, stopReason: fc.constant('stop' as const) }), {
      maxLength: 2,
    }),
    promptLogprobs: fc.option(fc.array(fc.option(number), { maxLength: 3 })),
  }),
  fc.record({
    kind: fc.constant('pass' as const),
    logprobs: fc.array(numbers, { maxLength: 2 }),
    losses: fc.option(fc.array(numbers, { maxLength: 2 })),
    metrics: fc.dictionary(fc.string(), number, { maxKeys: 2 }),
  }),
)
const work: fc.Arbitrary<Work> = fc.oneof(
  fc.record({
    kind: fc.constant('pass' as const),
    data: fc.array(fc.record({ input: numbers, target: numbers }), { maxLength: 2 }),
    loss: fc.record({ kind: fc.constant('ppo' as const), clipLow: number, clipHigh: number }),
    forwardOnly: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('optim_step' as const),
    params: fc.record({ learningRate: number, beta1: number, beta2: number, eps: number, weightDecay: number }),
  }),
)
const event: fc.Arbitrary<TrainerEvent> = fc.oneof(
  fc.record({
    type: fc.constant('settled' as const),
    requests: fc.array(fc.record({ id: fc.string({ unit: 'binary' }), outcome }), { maxLength: 2 }),
    at: number,
  }),
  fc.record({
    type: fc.constant('accepted' as const),
    request: fc.record({
      id: fc.string(),
      owner: fc.string({ unit: 'binary' }),
      subject: fc.record({ kind: fc.constant('model' as const), id: fc.string() }),
      seq: fc.option(whole),
      hash: fc.string(),
      work: fc.option(work),
    }),
  }),
)

it('reads at the next start whatever it wrote down, and refuses the rest before a byte of it is written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 6 }), async (events) => {
      const path = join(mkdtempSync(join(tmpdir(), 'ratchet-journal-')), 'journal.jsonl')
      const applied: TrainerEvent[] = []
      const journal = await Journal.open(path, (one) => void applied.push(one))
      const ended = await Promise.allSettled(events.map((one) => journal.append(one)))
      await journal.close()
      for (const one of ended) {
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'core/invariant' })
      }
      expect(applied).toEqual(events.filter((_, i) => ended[i]?.status === 'fulfilled'))
      const read: unknown[] = []
      await (await Journal.open(path, (one) => void read.push(one))).close()
      expect(read).toEqual(JSON.parse(JSON.stringify(applied)))
    }),
    { numRuns: 60 },
  )
})
