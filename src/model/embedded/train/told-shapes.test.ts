import type { InferenceSession } from 'onnxruntime-node'
import { expect, it } from 'vitest'
import { recordedArchitectures } from '../../../../test/support/architectures.ts'
import { recorded, recordedModel } from '../../../../test/support/recorded.ts'
import type { Datum } from '../../../core/index.ts'
import { openSession } from '../device/session.ts'
import { writeOnnx } from '../onnx/write.ts'
import { type BaseWeights, inPrecision } from '../transformer/base-weights.ts'
import type { ModelWeights, TransformerConfig } from '../transformer/config.ts'
import type { Trained } from '../transformer/trained.ts'
import { trainingGraph } from '../transformer/training-graph.ts'
import { EmbeddedTrainer } from './embedded-trainer.ts'
import { initialValues } from './initial-values.ts'
import { LoraTarget } from './lora.ts'
import { PassSessions, type PassSpec } from './pass-sessions.ts'
import { TrainingShard } from './training-shard.ts'

/** Runs each graph with everything between its nodes as results, and looks at their shapes. */
class LookingSessions extends PassSessions {
  /** The sizes that each dimension's name had, run by run. */
  readonly sizes: Map<string, Set<number>>[] = []
  readonly wrong: string[] = []
  readonly #model: BaseWeights

  constructor(model: BaseWeights) {
    super(model)
    this.#model = model
  }

  override async run(spec: PassSpec, feeds: InferenceSession.FeedsType): Promise<InferenceSession.ReturnType> {
    const { pass: _, ...variant } = spec
    const { config, rounded } = this.#model
    const graph = trainingGraph({ config, rounded: rounded !== undefined, ...variant }).toOnnx()
    const session = await openSession(writeOnnx({ ...graph, outputs: [...graph.outputs, ...graph.between] }), {
      threads: 1,
    })
    const results = await session.run(feeds)
    await session.release()
    const sizes = new Map<string, Set<number>>()
    for (const { name, shape } of graph.between) {
      const dims = results[name]!.dims
      if (dims.length !== shape.length) this.wrong.push(`${name}: [${dims.join()}] is told as [${shape.join()}]`)
      for (const [axis, told] of shape.entries()) {
        sizes.set(String(told), (sizes.get(String(told)) ?? new Set()).add(dims[axis]!))
      }
    }
    this.sizes.push(sizes)
    return results
  }
}

const shared = [5, 6, 7, 8, 9]
/** Three sequences with a common beginning, and one without, of other lengths each. */
const data: Datum[] = [
  [...shared, 10, 11],
  [...shared, 12],
  [...shared, 13, 14, 15, 16],
  [3, 4],
].map((input) => ({
  input,
  target: input.map((token) => token + 1),
  weights: input.map((_, t) => (t % 2 === 0 ? 1 : 0)),
}))
const lora = { kind: 'lora', rank: 3, alpha: 6, targets: LoraTarget.options } as const

const { config: llama } = recorded('llama') as { config: TransformerConfig }
const variants: [string, ModelWeights, Trained, 'float32' | 'int8', number][] = [
  ...recordedArchitectures.map((one): (typeof variants)[number] => [one.name, one, lora, 'float32', 0]),
  ['all weights', recordedModel(llama), { kind: 'full' }, 'float32', 0],
  ['a soft prompt', recordedModel(llama), { kind: 'prompt', length: 3 }, 'float32', 0],
  ['8 bits', recordedModel(llama), lora, 'int8', 0],
  ['an auxiliary head', recordedModel(llama), lora, 'float32', 2],
]

it.each(variants)('values between nodes have the shapes that ONNX Runtime is told: %s', async (...variant) => {
  const [, weights, trained, precision, outputs] = variant
  const model = inPrecision(weights, precision)
  const { config } = model
  const sessions = new LookingSessions(model)
  const shard = new TrainingShard({ model, trained, values: initialValues(model, trained, { seed: 1 }), sessions })
  const trainer = new EmbeddedTrainer({ config, trained, shards: [shard], publish: () => Promise.reject(), budget: 12 })
  await trainer.auxiliary.attach(outputs)
  const auxiliary = (length: number) => ({
    targets: Array.from({ length }, () => Array<number>(outputs).fill(0.5)),
    weights: Array<number>(length).fill(1),
  })
  const given = data.map((datum) => (outputs > 0 ? { ...datum, auxiliary: auxiliary(datum.input.length) } : datum))
  await trainer.forwardBackward(given, { kind: 'cross_entropy' })

  expect(sessions.wrong).toEqual([])
  expect(sessions.sizes.length).toBeGreaterThan(0)
  for (const sizes of sessions.sizes) {
    for (const [dimension, found] of sizes) {
      expect([...found], `sizes of ${dimension}`).toHaveLength(1)
      if (/^\d+$/.test(dimension)) expect([...found], 'a fixed size').toEqual([Number(dimension)])
      const product = /^(\d+)·(.+)$/.exec(dimension)
      const factor = product?.[2] === undefined ? undefined : sizes.get(product[2])
      if (product && factor) expect([...found], dimension).toEqual([Number(product[1]) * [...factor][0]!])
    }
  }
})
