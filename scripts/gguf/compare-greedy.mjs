/**
 * What a GGUF file's model says to a chat prompt when it always takes the likeliest token: here, and in llama.cpp on the
 * same file. llama.cpp also rounds activations to 8 bits, so that the two may part where two tokens are about as likely.
 *
 *   npx tsc -b && node scripts/gguf/compare-greedy.mjs FILE FOLDER   (FOLDER: see compare-tokens.mjs)
 */
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadModel } from '../../dist/model/embedded/load/index.js'
import { KvGrid } from '../../dist/model/embedded/sampling/kv.js'
import { StepRunner } from '../../dist/model/embedded/sampling/step.js'
import { WeightSets } from '../../dist/model/embedded/sampling/weight-sets.js'
import { rendererFor } from '../../dist/model/renderer/index.js'

const [file, folder, question = 'What is the capital of France?'] = process.argv.slice(2)
if (!file || !folder) throw new Error('Usage: node scripts/gguf/compare-greedy.mjs FILE FOLDER [QUESTION]')
const most = 24

const begun = performance.now()
const { weights: model, ...rest } = await loadModel(file)
console.error(`loaded in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
const { tokenizer } = rest
const prompt =
  rest.chatTemplate === null
    ? tokenizer.encodeWithSpecials(`<bos>${question}`)
    : [...rendererFor(rest, 'template').start([{ role: 'user', content: question }], [])]

async function ours() {
  const sets = await WeightSets.open({ model, contextLength: prompt.length + most, threads: 2 })
  const runner = new StepRunner({ deterministic: false })
  const past = new KvGrid(model.config)
  past.grow(1, prompt.length + most, 1)
  const all = [...prompt]
  let start = 0
  while (all.length < prompt.length + most) {
    const count = all.length - start
    const spans = [{ tokens: Int32Array.from(all), start, count }]
    const result = await runner.run({
      weights: sets.get(null),
      spans,
      width: count,
      past,
      temperatures: Float32Array.of(1),
    })
    for (let layer = 0; layer < model.config.layers; layer++)
      for (const kind of ['key', 'value']) past.append(layer, kind, result.newRows(layer, kind), spans, count)
    start += count
    const next = result.probabilities.indexOf(Math.max(...result.probabilities))
    if (rest.stopTokens.includes(next)) break
    all.push(next)
  }
  await sets.close()
  return all.slice(prompt.length)
}

async function theirs() {
  const entry = createRequire(resolve(folder, 'x.js')).resolve('node-llama-cpp')
  const { getLlama } = await import(pathToFileURL(entry).href)
  const llama = await getLlama({ gpu: false, build: 'never', logLevel: 'error' })
  const reference = await llama.loadModel({ modelPath: resolve(file) })
  const context = await reference.createContext({ contextSize: 512, threads: 2 })
  const found = []
  for await (const token of context.getSequence().evaluate(prompt, { temperature: 0 })) {
    if (rest.stopTokens.includes(token)) break
    found.push(token)
    if (found.length === most) break
  }
  return found
}

const answers = [await ours(), await theirs()].map((tokens) => ({
  tokens: tokens.length,
  text: tokenizer.decode(tokens),
}))
console.log(JSON.stringify({ prompt: tokenizer.decode(prompt), ours: answers[0], llamaCpp: answers[1] }, null, 2))
process.exit(0)
