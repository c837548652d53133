/**
 * Whether reading its own earlier segments from a memory in one layer (Wu et al. 2022) helps a model with long documents.
 *
 *     npx tsc -b && node scripts/memorizing-evidence.mjs --base base.safetensors
 *     node scripts/memorizing-evidence.mjs --base base.safetensors --context 1
 *
 * Documents are Markdown files of this checkout's packages and docs. `minimind2-small` is a chat model and knows no such
 * text: it is trained on half of the packages first, as a whole, and that is the base of everything below. The other packages
 * give one document each, cut into segments that are computed alone: nothing of a segment sees those before, but through the
 * memory. With `--context 1` each segment sees the one before, and the memory holds what is before that. A seed divides these documents in two halves. On one, the gates and a LoRA pair on one layer's queries are
 * trained, an update a segment, each with the memory of its document's earlier ones; on the other, segments are scored.
 *
 * Arms, on the same held-out tokens (segments without a memory are left out):
 * - `base`: the base alone;
 * - `LoRA`: the same LoRA pair trained on the same segments without a memory, and scored so;
 * - `none`, `other`, `own`: what was trained with memories, scored without one, with the one of another document (as long,
 *   and its own is left out), and with its own;
 * - `untrained`: the base with its own memory, and gates as open as training begins with;
 * - `context`: the base with one segment more in its context, for what plain attention makes of the nearest of those tokens.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import {
  loadModel,
  openEmbeddedEngine,
  readMemoryAdapter,
  readSafetensors,
  toFloat32,
} from '../dist/model/embedded/index.js'
import { interval } from './kinds-evidence/intervals.mjs'

const { values: flags } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    /** The first seed; the settings below were chosen on seed 0. */
    first: { type: 'string', default: '1' },
    segment: { type: 'string', default: '128' },
    segments: { type: 'string', default: '6' },
    /** Segments before it that each segment sees in its context; the memory holds those before them. */
    context: { type: 'string', default: '0' },
    layer: { type: 'string', default: '5' },
    neighbours: { type: 'string', default: '32' },
    rank: { type: 'string', default: '8' },
    learningRate: { type: 'string', default: '0.01' },
    epochs: { type: 'string', default: '1' },
    /** How open the gates are at first. */
    gate: { type: 'string', default: '0.25' },
    /** Most documents, of both halves together. */
    documents: { type: 'string', default: '24' },
    /** Most tokens that the base is trained on first. */
    adaptation: { type: 'string', default: '40000' },
    /** Where the trained base is kept between runs. */
    base: { type: 'string' },
  },
})
const number = (name) => Number(flags[name])
const [SEGMENT, SEGMENTS, CONTEXT] = [number('segment'), number('segments'), number('context')]
const began = Date.now()
/** One thread: the run repeats bit for bit. */
const ALONE = { workers: 1, threadsPerWorker: 1 }
const say = (text) => console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`)

/** Markdown files below a folder, longer than 8,000 bytes; no changelogs and licences, which repeat themselves. */
function markdown(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return markdown(path)
      const counts = /\.md$/i.test(entry.name) && !/changelog|history|license|security/i.test(entry.name)
      return counts && statSync(path).size > 8_000 ? [path] : []
    })
}

/** Items by what `keyOf` says of them. */
function groupedBy(items, keyOf) {
  const groups = new Map()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** The package that a file belongs to, or `docs`. */
const packageOf = (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? 'docs'

const { weights: downloaded, tokenizer } = await loadModel('minimind2-small')
const byPackage = groupedBy([...markdown('node_modules/'), ...markdown('docs')], packageOf)
const packages = [...byPackage.keys()].toSorted((a, b) => (a < b ? -1 : 1))
const shuffledPackages = rng('memorizing', 'packages').shuffle(packages)
const adaptationPackages = shuffledPackages.slice(0, Math.floor(packages.length / 2))
const tokensOf = (path) => tokenizer.encode(readFileSync(path, 'utf8'))

/** The longest document of each other package, cut into segments. */
const allDocuments = shuffledPackages.slice(adaptationPackages.length).flatMap((name) => {
  const [longest] = byPackage
    .get(name)
    .map(tokensOf)
    .toSorted((a, b) => b.length - a.length)
  if (longest.length < SEGMENT * SEGMENTS) return []
  const segments = Array.from({ length: SEGMENTS }, (_, i) => longest.slice(i * SEGMENT, (i + 1) * SEGMENT))
  return [{ name, segments }]
})
const documents = allDocuments.slice(0, number('documents'))

/** The base: the downloaded model, trained as a whole on text of the same kind. */
async function adapted() {
  if (!flags.base || !existsSync(flags.base)) {
    const bytes = await adapt()
    if (!flags.base) return modelOf(bytes)
    writeFileSync(flags.base, bytes)
  }
  return modelOf(readFileSync(flags.base))
}

const modelOf = (bytes) => ({
  config: downloaded.config,
  tensors: new Map([...readSafetensors(bytes).tensors].map(([name, tensor]) => [name, toFloat32(name, tensor)])),
})

async function adapt() {
  const window = 512
  const windows = adaptationPackages.flatMap((name) =>
    byPackage.get(name).flatMap((path) => {
      const tokens = tokensOf(path)
      return Array.from({ length: Math.floor(tokens.length / window) }, (_, i) =>
        tokens.slice(i * window, (i + 1) * window),
      )
    }),
  )
  const random = rng('memorizing', 'windows')
  const used = random.shuffle(windows).slice(0, Math.floor(number('adaptation') / window))
  const engine = await openEmbeddedEngine({ model: downloaded, decode: (tokens) => tokenizer.decode(tokens), ...ALONE })
  const trainer = await engine.trainer({ method: { kind: 'full' }, seed: 0 })
  const batch = 3
  const steps = Math.ceil(used.length / batch)
  for (let step = 0; step < steps; step++) {
    const data = used.slice(step * batch, (step + 1) * batch).map(datumOf)
    const { loss } = await trainer.forwardBackward(weighted(data), { kind: 'cross_entropy' })
    const rate = 2.5e-4 * Math.min((step + 1) / 5, 1) * (1 - (0.9 * step) / steps)
    await trainer.optimStep({ learningRate: rate, gradClipNorm: 1 })
    if (step % 4 === 0 || step === steps - 1) say(`base: step ${step + 1} of ${steps}, loss ${loss.toFixed(3)}`)
  }
  const bytes = await trainer.saveWeights()
  await engine.close()
  return bytes
}

/** Next-token data of a sequence. */
function datumOf(tokens) {
  return { input: tokens.slice(0, -1), target: tokens.slice(1) }
}

/** The data with weights that make their summed loss a mean over tokens. */
function weighted(data) {
  const count = data.reduce((sum, { input }) => sum + input.length, 0)
  return data.map((datum) => ({ ...datum, weights: datum.input.map(() => 1 / count) }))
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

const model = await adapted()
const engine = await openEmbeddedEngine({ model, decode: (tokens) => tokenizer.decode(tokens), ...ALONE })
const memory = {
  layer: number('layer'),
  neighbours: number('neighbours'),
  queries: { rank: number('rank'), alpha: number('rank') },
}
const trainerOf = (seed) => engine.memoryTrainer({ memory, seed, gate: number('gate') })
/** Segments that have both a context and a memory before them. */
const LATER = Array.from({ length: SEGMENTS - 1 - CONTEXT }, (_, i) => i + 1 + CONTEXT)

/** What the memory keeps of each segment: the same for every seed, because the weights below the layer are frozen. */
const reader = await trainerOf(0)
const kept = new Map()
for (const { name, segments } of documents) {
  const rows = []
  for (const segment of segments) rows.push(await reader.collect(segment))
  kept.set(name, rows)
}
say(`${documents.length} documents remembered`)

/** A memory of a document's segments before the context of one. */
function before({ name }, segment) {
  const filled = reader.newMemory(SEGMENT * SEGMENTS)
  for (const rows of kept.get(name).slice(0, segment - CONTEXT)) filled.append(rows)
  return filled
}

/** A segment after so many before it; the loss is of its own tokens but the first, whatever the context. */
function datumAfter({ segments }, segment, context) {
  const datum = datumOf(segments.slice(segment - context, segment + 1).flat())
  const first = datum.input.length - (SEGMENT - 1)
  return { ...datum, weights: datum.input.map((_, position) => (position < first ? 0 : 1 / (SEGMENT - 1))) }
}

/** Loss in nats a token of a document's later segments, each with the memory that `memoryOf` gives. */
async function lossOf(trainer, document, memoryOf, context = CONTEXT) {
  const losses = []
  for (const segment of LATER) {
    const [logprobs] = await trainer.forward([datumAfter(document, segment, context)], memoryOf(segment))
    losses.push(-mean(logprobs.slice(1 - SEGMENT)))
  }
  return mean(losses)
}

/** What hangs on no seed: nothing is trained, and every document is scored. */
const unseeded = new Map()
for (const document of documents) {
  const recalling = (segment) => before(document, segment)
  unseeded.set(document.name, {
    base: await lossOf(reader, document, () => null),
    context: await lossOf(reader, document, () => null, CONTEXT + 1),
    untrained: await lossOf(reader, document, recalling),
  })
}
say('scored without training')

/** Trains on the later segments of documents, an update each, with what `memoryOf` gives. */
async function train(trainer, shown, memoryOf, random) {
  const parts = shown.flatMap((document) => LATER.map((segment) => ({ document, segment })))
  const order = Array.from({ length: number('epochs') }, () => random.shuffle(parts)).flat()
  for (const [step, { document, segment }] of order.entries()) {
    const data = [datumAfter(document, segment, CONTEXT)]
    await trainer.forwardBackward(data, { kind: 'cross_entropy' }, memoryOf(document, segment))
    const learningRate = number('learningRate') * (1 - step / order.length)
    await trainer.optimStep({ learningRate, gradClipNorm: 1 })
  }
}

/** One seed: each held-out document's loss by arm. */
async function run(seed) {
  const random = rng('memorizing', seed)
  const shuffled = random.shuffle(documents)
  const half = Math.floor(documents.length / 2)
  const [shown, held] = [shuffled.slice(0, half), shuffled.slice(half)]
  const [reading, plain] = [await trainerOf(seed), await trainerOf(seed)]
  await train(reading, shown, before, rng('memorizing', 'order', seed))
  say(`seed ${seed}: trained with memories`)
  await train(plain, shown, () => null, rng('memorizing', 'order', seed))
  say(`seed ${seed}: trained without`)
  const results = []
  for (const [index, document] of held.entries()) {
    const other = held[(index + 1) % held.length]
    results.push({
      name: document.name,
      ...unseeded.get(document.name),
      LoRA: await lossOf(plain, document, () => null),
      none: await lossOf(reading, document, () => null),
      other: await lossOf(reading, document, (segment) => before(other, segment)),
      own: await lossOf(reading, document, (segment) => before(document, segment)),
    })
  }
  const [gate] = readMemoryAdapter(model.config, await reading.saveWeights()).tensors.values()
  const gates = Array.from(gate, (value) => 1 / (1 + Math.exp(-value)))
  for (const trainer of [reading, plain]) await trainer.close()
  say(
    `seed ${seed}: ${ARMS.map((arm) => `${arm} ${mean(results.map((result) => result[arm])).toFixed(3)}`).join(', ')}`,
  )
  say(`seed ${seed}: gates ${gates.map((value) => value.toFixed(3)).join(' ')}`)
  return { seed, results, gates }
}

const shown = ({ mean: middle, low, high }) => `${middle.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`
const overDocuments = (numberOf) => shown(interval([...unseeded.values()].map(numberOf)))
console.log(
  `Nats a token, mean and 95 % interval over documents. Nothing trained, all ${documents.length} documents:\n`,
)
for (const arm of ['base', 'context', 'untrained']) console.log(`- ${arm}: ${overDocuments((r) => r[arm])}`)
console.log(`- untrained less base: ${overDocuments((r) => r.untrained - r.base)}`)

const ARMS = ['base', 'context', 'LoRA', 'none', 'other', 'own']
const runs = []
for (let seed = number('first'); seed < number('first') + number('seeds'); seed++) runs.push(await run(seed))
await engine.close()
if (runs.length === 0) process.exit()

/** Each document's number, averaged over the seeds that held it out: the documents are what the intervals are over. */
function byDocument(numberOf) {
  const all = groupedBy(
    runs.flatMap(({ results }) => results),
    ({ name }) => name,
  )
  return [...all.values()].map((results) => mean(results.map(numberOf)))
}
const seedsWhere = (holds) => runs.filter(({ results }) => holds(results)).length

console.log(`\nTrained: ${byDocument((r) => r.base).length} of them held out by some of ${runs.length} seeds`)
console.log('\n| arm | loss | own memory less this | seeds in which own is lower |\n|---|---|---|---|')
for (const arm of ARMS) {
  const lower = seedsWhere((results) => mean(results.map((result) => result.own - result[arm])) < 0)
  const difference =
    arm === 'own' ? ['', ''] : [shown(interval(byDocument((r) => r.own - r[arm]))), `${lower} of ${runs.length}`]
  console.log(`| ${arm} | ${shown(interval(byDocument((r) => r[arm])))} | ${difference.join(' | ')} |`)
}
const gates = runs.flatMap((each) => each.gates)
console.log(
  `\nGates after training: ${Math.min(...gates).toFixed(3)} to ${Math.max(...gates).toFixed(3)}, mean ${mean(gates).toFixed(3)}`,
)
