import type { ModelWeights } from '../../src/model/embedded/transformer/config.ts'
import { KvGrid } from '../../src/model/embedded/sampling/kv.ts'
import { StepRunner } from '../../src/model/embedded/sampling/step.ts'
import { WeightSets } from '../../src/model/embedded/sampling/weight-sets.ts'
import type { AdapterWeights } from '../../src/model/embedded/train/lora.ts'
import type { SoftPrompt } from '../../src/model/embedded/train/soft-prompt.ts'

/** Sequences that one run of the engine computes beside each other: how many tokens of each, run by run. */
export interface RowsOptions {
  readonly model: ModelWeights
  readonly adapter?: AdapterWeights
  /** A soft prompt, whose virtual tokens the sequences name. */
  readonly prompt?: SoftPrompt
  readonly sequences: readonly (readonly number[])[]
  /** Tokens of each sequence in each run; by default one a run. */
  readonly runs?: readonly (readonly number[])[]
}

/** For each sequence, log-probabilities of the next token after the last one of each run, by the engine. */
export async function engineRows({ model, adapter, prompt, sequences, runs }: RowsOptions): Promise<number[][][]> {
  const sets = await WeightSets.open({ model, contextLength: 64, threads: 1 })
  if (adapter) await sets.load('a', { kind: 'lora', adapter })
  if (prompt) await sets.load('a', { kind: 'prompt', prompt })
  const runner = new StepRunner({ deterministic: false })
  const past = new KvGrid(model.config)
  const ends = sequences.map(() => 0)
  const rows: number[][][] = sequences.map(() => [])
  const longest = Math.max(...sequences.map(({ length }) => length))
  past.grow(sequences.length, longest, sequences.length)
  for (const counts of runs ?? Array.from({ length: longest }, () => sequences.map(() => 1))) {
    const spans = sequences.map((tokens, index) => ({
      tokens: Int32Array.from(tokens),
      start: ends[index] as number,
      count: counts[index] as number,
    }))
    const width = Math.max(...counts)
    const temperatures = new Float32Array(spans.length).fill(1)
    const result = await runner.run({
      weights: sets.get(adapter || prompt ? 'a' : null),
      spans,
      width,
      past,
      temperatures,
    })
    for (let layer = 0; layer < model.config.layers; layer++) {
      for (const kind of ['key', 'value'] as const) past.append(layer, kind, result.newRows(layer, kind), spans, width)
    }
    for (const [index, { count }] of spans.entries()) {
      const row = result.probabilities.subarray(index * model.config.vocabSize, (index + 1) * model.config.vocabSize)
      rows[index]?.push(Array.from(row, Math.log))
      ends[index] = (ends[index] as number) + count
    }
  }
  await sets.close()
  return rows
}
