/**
 * How far the embedded engine is from transformers on a real model folder: the greatest difference of log-probabilities,
 * of sampling over the cache (a prompt in pieces, then single tokens) and of training, and whether the tokenizer agrees.
 *
 *   python scripts/vectors/logits.py FOLDER > FILE
 *   npx tsc -b && node scripts/compare-logits.mjs FOLDER FILE
 */
import { readFile } from 'node:fs/promises'
import { loadModel } from '../dist/model/embedded/load/index.js'
import { KvGrid } from '../dist/model/embedded/sampling/kv.js'
import { StepRunner } from '../dist/model/embedded/sampling/step.js'
import { WeightSets } from '../dist/model/embedded/sampling/weight-sets.js'
import { EmbeddedTrainer } from '../dist/model/embedded/train/embedded-trainer.js'
import { initialValues } from '../dist/model/embedded/train/initial-values.js'
import { PassSessions } from '../dist/model/embedded/train/pass-sessions.js'
import { TrainingShard } from '../dist/model/embedded/train/training-shard.js'

const [folder, file] = process.argv.slice(2)
if (!folder || !file) throw new Error('Usage: node scripts/compare-logits.mjs FOLDER FILE')
const { transformers, text, ids, tokens, stride, targets, rows } = JSON.parse(await readFile(file, 'utf8'))
const { weights: model, tokenizer } = await loadModel(folder)

/** The greatest difference, and at how many values it was looked. */
const furthest = { sampling: 0, training: 0 }
const looked = { sampling: 0, training: 0 }
const compare = (path, found, expected) => {
  const difference = Math.abs(found - expected)
  if (!(difference <= furthest[path])) furthest[path] = difference
  looked[path]++
}

const sets = await WeightSets.open({ model, contextLength: tokens.length, threads: 2 })
const runner = new StepRunner({ deterministic: false })
const past = new KvGrid(model.config)
past.grow(1, tokens.length, 1)
const wanted = Object.keys(rows).map(Number)
let start = 0
while (start < tokens.length) {
  // Up to the next position that was recorded, at most a piece of a prompt; that position is a step of its own.
  const next = wanted.find((position) => position >= start) ?? tokens.length
  const count = next === start ? 1 : Math.min(next - start, 100)
  const spans = [{ tokens: Int32Array.from(tokens), start, count }]
  const temperatures = Float32Array.of(1)
  const result = await runner.run({ weights: sets.get(null), spans, width: count, past, temperatures })
  for (let layer = 0; layer < model.config.layers; layer++)
    for (const kind of ['key', 'value']) past.append(layer, kind, result.newRows(layer, kind), spans, count)
  if (next === start)
    rows[start].forEach((logprob, index) =>
      compare('sampling', Math.log(result.probabilities[index * stride]), logprob),
    )
  if (start + count < tokens.length)
    compare('sampling', Math.log(result.probabilities[tokens[start + count]]), targets[start + count - 1])
  start += count
}
await sets.close()

const trained = { kind: 'lora', rank: 1, alpha: 1, targets: ['q'] }
const values = initialValues(model, trained, { seed: 1 })
const shard = new TrainingShard({ model, trained, values, sessions: new PassSessions(model, { threads: 2 }) })
const trainer = new EmbeddedTrainer({ config: model.config, trained, shards: [shard], publish: () => Promise.reject() })
const [logprobs] = await trainer.forward([{ input: tokens.slice(0, -1), target: tokens.slice(1) }])
logprobs.forEach((logprob, position) => compare('training', logprob, targets[position]))
await trainer.close()

const sameTokens = JSON.stringify(tokenizer.encode(text)) === JSON.stringify(ids)
console.log(
  JSON.stringify(
    { transformers, tokens: tokens.length, furthest, looked, tokenizer: sameTokens ? 'same ids' : 'other ids' },
    null,
    2,
  ),
)
