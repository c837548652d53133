/**
 * How far the embedded engine is from transformers on 24 prompts: the greatest difference of a log-probability, in the sampler's
 * pass and in the trainer's, whether the most likely next token is the same, and how far sampler and trainer are apart.
 *
 *   python scripts/vectors/prompts.py MODEL > FILE
 *   npx tsc -b && node scripts/compare-prompts.mjs MODEL FILE
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

const [reference, file] = process.argv.slice(2)
if (!reference || !file) throw new Error('Usage: node scripts/compare-prompts.mjs MODEL FILE')
const { prompts, stride, transformers } = JSON.parse(await readFile(file, 'utf8'))
const { weights: model } = await loadModel(reference)

const furthest = { sampling: 0, training: 0, apart: 0 }
const looked = { sampling: 0, training: 0, apart: 0 }
const compare = (path, found, expected) => {
  const difference = Math.abs(found - expected)
  if (!(difference <= furthest[path])) furthest[path] = difference
  looked[path]++
}

const longest = Math.max(...prompts.map(({ tokens }) => tokens.length))
const sets = await WeightSets.open({ model, contextLength: longest, threads: 2 })
const runner = new StepRunner({ deterministic: false })
let sameTop = 0
const sampled = []
for (const { tokens, targets, last, top } of prompts) {
  const past = new KvGrid(model.config)
  past.grow(1, tokens.length, 1)
  const told = []
  let probabilities
  for (const start of tokens.keys()) {
    const spans = [{ tokens: Int32Array.from(tokens), start, count: 1 }]
    const temperatures = Float32Array.of(1)
    const result = await runner.run({ weights: sets.get(null), spans, width: 1, past, temperatures })
    for (let layer = 0; layer < model.config.layers; layer++)
      for (const kind of ['key', 'value']) past.append(layer, kind, result.newRows(layer, kind), spans, 1)
    probabilities = result.probabilities
    if (start + 1 < tokens.length) told.push(Math.log(probabilities[tokens[start + 1]]))
  }
  told.forEach((logprob, i) => compare('sampling', logprob, targets[i]))
  last.forEach((logprob, i) => compare('sampling', Math.log(probabilities[i * stride]), logprob))
  compare('sampling', Math.log(probabilities[top[0]]), top[1])
  if (probabilities.every((one) => one <= probabilities[top[0]])) sameTop++
  sampled.push(told)
}
await sets.close()

const trained = { kind: 'lora', rank: 1, alpha: 1, targets: ['q'] }
const shard = new TrainingShard({
  model,
  trained,
  values: initialValues(model, trained, { seed: 1 }),
  sessions: new PassSessions(model, { threads: 2 }),
})
const trainer = new EmbeddedTrainer({ config: model.config, trained, shards: [shard], publish: () => Promise.reject() })
const several = prompts.filter(({ tokens }) => tokens.length > 1)
const measured = await trainer.forward(
  several.map(({ tokens }) => ({ input: tokens.slice(0, -1), target: tokens.slice(1) })),
)
const ofSampler = sampled.filter((told) => told.length > 0)
for (const [i, logprobs] of measured.entries()) {
  logprobs.forEach((logprob, t) => {
    compare('training', logprob, several[i].targets[t])
    compare('apart', logprob, ofSampler[i][t])
  })
}
await trainer.close()
console.log(JSON.stringify({ transformers, prompts: prompts.length, sameTop, furthest, looked }))
