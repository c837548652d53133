import type { TransformerConfig } from '../../src/model/embedded/transformer/config.ts'
import { KvGrid } from '../../src/model/embedded/sampling/kv.ts'
import { StepRunner } from '../../src/model/embedded/sampling/step.ts'
import { WeightSets } from '../../src/model/embedded/sampling/weight-sets.ts'
import type { AdapterWeights } from '../../src/model/embedded/train/lora.ts'
import { recordedModel } from './recorded.ts'

/** Log-probabilities of the next token after each of these, by the engine. */
export async function engineRows(config: TransformerConfig, adapter: AdapterWeights, tokens: readonly number[]) {
  const sets = await WeightSets.open({ model: recordedModel(config), contextLength: 64, threads: 1 })
  await sets.load('a', { kind: 'lora', adapter })
  const runner = new StepRunner({ deterministic: false })
  const past = new KvGrid(config)
  const rows: number[][] = []
  for (const start of tokens.keys()) {
    past.grow(1, start + 1, 1)
    const spans = [{ tokens: Int32Array.from(tokens), start, count: 1 }]
    const temperatures = Float32Array.of(1)
    const result = await runner.run({ weights: sets.get('a'), spans, width: 1, past, temperatures })
    for (let layer = 0; layer < config.layers; layer++) {
      for (const kind of ['key', 'value'] as const) past.append(layer, kind, result.newRows(layer, kind), spans, 1)
    }
    rows.push(Array.from(result.probabilities, (p) => Math.log(p)))
  }
  await sets.close()
  return rows
}
