/**
 * What mixing in the nearest entries of a datastore (kNN-LM) does to the loss on held-out text of a domain, and what it costs.
 *
 *   npx tsc -b && node scripts/nearest-evidence.mjs [--model smollm2-135m] [--domain mdn|docs] [--tokens 30000]
 *   node scripts/nearest-evidence.mjs --speed --model minimind2-small
 *
 * Domains: `mdn`, the descriptions and notes of @mdn/browser-compat-data, each wording once, a document an interface; `docs`,
 * the pages of this repository's docs/. Documents are dealt to six folds. In turn each fold is measured; λ, k and T are chosen
 * on the next one, by loss; the other four are the datastore. So no document is at once in two of the three, but wordings recur
 * between documents of one domain. Texts are read in windows of 256 tokens; the first token of each is not scored.
 *
 * Arms: the model; the datastore; one as large of unrelated text (README files of npm packages) with λ, k, T chosen for itself,
 * and with those chosen for the domain's; and the model mixed with bigram counts of the domain's text, λ chosen alike. Told:
 * the mean loss in nats a token, and the differences from the model and from the bigram counts over the six folds with a 95 %
 * t interval. Their datastores overlap: the interval is rather too narrow than too wide.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { rng } from '../dist/core/index.js'
import { NearestIndex } from '../dist/model/embedded/nearest/nearest-index.js'
import { neighbourShares, openEmbeddedModel } from '../dist/model/index.js'
import { interval } from './kinds-evidence/intervals.mjs'

const { values: flags } = parseArgs({
  options: {
    model: { type: 'string', default: 'smollm2-135m' },
    domain: { type: 'string', default: 'mdn' },
    /** Of the domain, all folds together. */
    tokens: { type: 'string', default: '30000' },
    speed: { type: 'boolean', default: false },
  },
})
const FOLDS = 6
const WINDOW = 256
const WEIGHTS = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
const NEIGHBOURS = [1, 4, 16, 64, 256]
/** As multiples of the median squared distance to the nearest entry. */
const TEMPERATURES = [0.03, 0.06, 0.12, 0.25, 0.5, 1, 2]
const began = Date.now()
const say = (text) => console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${text}`)
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

function shuffled(items, name) {
  const random = rng(name, 1)
  return items
    .map((item) => [random.next(), item])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)
}

/** Documents of the descriptions and notes of a compatibility table; each wording stands in the first that has it. */
function mdn() {
  const data = createRequire(import.meta.url)('@mdn/browser-compat-data')
  const seen = new Set()
  const documents = new Map()
  const walk = (node, path) => {
    for (const [key, value] of Object.entries(node)) {
      if (key === '__compat') {
        const notes = Object.values(value.support).flatMap((support) =>
          [support].flat().flatMap(({ notes = [] }) => notes),
        )
        for (const text of [value.description, ...notes]) {
          if (!text || seen.has(text)) continue
          seen.add(text)
          const name = path.slice(0, 2).join('.')
          documents.set(name, [...(documents.get(name) ?? []), text.replaceAll(/<[^>]+>/g, '')])
        }
      } else if (typeof value === 'object' && value !== null) walk(value, [...path, key])
    }
  }
  for (const part of Object.keys(data)) if (part !== 'browsers' && !part.startsWith('__')) walk(data[part], [part])
  return [...documents.values()].map((texts) => texts.join('\n'))
}

function pages(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => readFileSync(new URL(name, folder), 'utf8'))
}

function readmes() {
  const folder = new URL('../node_modules/', import.meta.url)
  const texts = readdirSync(folder)
    .sort()
    .flatMap((name) => {
      try {
        return [readFileSync(new URL(`${name}/README.md`, folder), 'utf8')]
      } catch {
        return []
      }
    })
  return [...new Set(texts)]
}

/** Windows of each document, dealt by turns until there are so many tokens; documents in random order. */
function windows(model, documents, tokens, name) {
  const cut = shuffled(documents, name).map((text) => {
    const encoded = model.encode(text)
    const parts = []
    for (let start = 0; start + 16 < encoded.length; start += WINDOW) parts.push(encoded.slice(start, start + WINDOW))
    return parts
  })
  const taken = cut.map(() => [])
  let left = tokens
  for (let turn = 0; left > 0 && cut.some((parts) => parts.length > turn); turn++) {
    for (const [i, parts] of cut.entries()) {
      if (left <= 0 || !parts[turn]) continue
      taken[i].push(parts[turn])
      left -= parts[turn].length
    }
  }
  return taken.filter((parts) => parts.length > 0)
}

/** Bigram counts of texts, as a share of what followed each token; what followed nothing known is by how often it stands. */
function bigrams(texts) {
  const counts = new Map()
  const add = (key, token) => {
    const of = counts.get(key) ?? { total: 0, tokens: new Map() }
    of.total++
    of.tokens.set(token, (of.tokens.get(token) ?? 0) + 1)
    counts.set(key, of)
  }
  for (const text of texts) {
    for (let i = 1; i < text.length; i++) {
      add(text[i - 1], text[i])
      add(-1, text[i])
    }
  }
  return (before, token) => {
    const of = counts.get(before) ?? counts.get(-1)
    return (of.tokens.get(token) ?? 0) / of.total
  }
}

const loss = (logprobs, shares, weight) =>
  -mean(logprobs.map((logprob, i) => Math.log((1 - weight) * Math.exp(logprob) + weight * shares[i])))

/** The least loss over λ, and over the ways to get shares. */
function chosen(logprobs, ways) {
  let best = { loss: Number.POSITIVE_INFINITY }
  for (const { shares, ...way } of ways) {
    for (const weight of WEIGHTS) {
      const found = loss(logprobs, shares, weight)
      if (found < best.loss) best = { ...way, weight, loss: found }
    }
  }
  return best
}

/** What a datastore gives each token of texts, for one k and T. */
const sharesOf = (read, params) =>
  read.neighbours.map((near, i) => neighbourShares(near, params).get(read.tokens[i]) ?? 0)

function* grid(read, unit) {
  for (const neighbours of NEIGHBOURS) {
    for (const multiple of TEMPERATURES) {
      const params = { neighbours, temperature: multiple * unit }
      yield { ...params, multiple, shares: sharesOf(read, params) }
    }
  }
}

/** Texts as the model read them: the keys and tokens of a datastore of them, and what the model gave each token. */
async function readAll(model, texts) {
  const reads = []
  for (const text of texts) reads.push(await model.datastores.read(text, { states: true }))
  const tokens = texts.flatMap((text) => text.slice(1))
  const keys = new Float32Array(reads.reduce((sum, { states }) => sum + states.length, 0))
  reads.reduce((offset, { states }) => {
    keys.set(states, offset)
    return offset + states.length
  }, 0)
  return {
    keys,
    width: keys.length / tokens.length,
    tokens,
    before: texts.flatMap((text) => text.slice(0, -1)),
    logprobs: reads.flatMap(({ logprobs }) => [...logprobs]),
  }
}

/** A read text with the nearest entries of a datastore. */
async function near(index, read) {
  const count = Math.max(...NEIGHBOURS)
  const neighbours = []
  const rows = 64
  for (let row = 0; row < read.tokens.length; row += rows) {
    const queries = read.keys.subarray(row * read.width, (row + rows) * read.width)
    neighbours.push(...(await index.search(queries, Array(queries.length / read.width).fill(count))))
  }
  return { ...read, neighbours }
}

function joined(stores) {
  const [{ width }] = stores
  const keys = new Float32Array(stores.reduce((sum, store) => sum + store.keys.length, 0))
  stores.reduce((offset, store) => {
    keys.set(store.keys, offset)
    return offset + store.keys.length
  }, 0)
  return { width, keys, tokens: Int32Array.from(stores.flatMap(({ tokens }) => tokens)) }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

async function quality(model) {
  const documents = flags.domain === 'mdn' ? mdn() : pages(new URL('../docs/', import.meta.url))
  const dealt = windows(model, documents, Number(flags.tokens), flags.domain)
  const folds = Array.from({ length: FOLDS }, (_, fold) => dealt.filter((_, i) => i % FOLDS === fold).flat())
  const size = Math.round((Number(flags.tokens) * (FOLDS - 2)) / FOLDS)
  const unrelatedTexts = windows(model, readmes(), size, 'readmes').flat()
  say(`${dealt.length} documents, ${folds.map((texts) => texts.flat().length).join(' + ')} tokens`)
  const reads = []
  for (const texts of folds) reads.push(await readAll(model, texts))
  say('the domain is read')
  const unrelated = await NearestIndex.open(await model.datastores.build(unrelatedTexts), 1)
  say('the unrelated text is read')
  const rows = []
  for (let fold = 0; fold < FOLDS; fold++) {
    const tuned = (fold + 1) % FOLDS
    const kept = [...folds.keys()].filter((i) => i !== fold && i !== tuned)
    const store = joined(kept.map((i) => reads[i]))
    const index = await NearestIndex.open(store, 1)
    const [own, ownTuned] = [await near(index, reads[fold]), await near(index, reads[tuned])]
    await index.close()
    const [other, otherTuned] = [await near(unrelated, reads[fold]), await near(unrelated, reads[tuned])]
    const { logprobs } = own
    const at = (read, { weight, ...params }) => loss(logprobs, sharesOf(read, params), weight)
    const unit = median(ownTuned.neighbours.map(({ distances }) => distances[0]))
    const forOwn = chosen(ownTuned.logprobs, grid(ownTuned, unit))
    const forOther = chosen(otherTuned.logprobs, grid(otherTuned, unit))
    const count = bigrams(kept.flatMap((i) => folds[i]))
    const counted = (read) => read.tokens.map((token, i) => count(read.before[i], token))
    const forCounts = chosen(ownTuned.logprobs, [{ shares: counted(ownTuned) }])
    const row = {
      model: -mean(logprobs),
      datastore: at(own, forOwn),
      unrelated: at(other, forOther),
      'unrelated, as the datastore': at(other, forOwn),
      'bigram counts': loss(logprobs, counted(own), forCounts.weight),
    }
    rows.push(row)
    say(
      `fold ${fold}: ${store.tokens.length} entries; λ ${forOwn.weight}, k ${forOwn.neighbours}, T ${forOwn.temperature.toFixed(1)} (${forOwn.multiple} of ${unit.toFixed(1)}); unrelated λ ${forOther.weight}; counts λ ${forCounts.weight}; ${JSON.stringify(row)}`,
    )
  }
  const less = (arm, other) => {
    const { mean: by, low, high } = interval(rows.map((row) => row[arm] - row[other]))
    return arm === other ? '' : `${by.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]`
  }
  console.log(
    `\n${flags.model}, ${flags.domain}\n\n| arm | nats a token | less the model | less bigram counts |\n|---|---|---|---|`,
  )
  for (const arm of Object.keys(rows[0])) {
    const losses = rows.map((row) => row[arm])
    console.log(`| ${arm} | ${mean(losses).toFixed(3)} | ${less(arm, 'model')} | ${less(arm, 'bigram counts')} |`)
  }
}

/** CPU time a token at so many entries, all threads together, for one sequence and for eight at once; keys are made up. */
async function speed(model) {
  const { width, origin } = await model.datastores.build([[1, 2]])
  console.log(
    '| entries | MB in each worker | one sequence, CPU ms a token | eight at once, CPU ms a token |\n|---|---|---|---|',
  )
  for (const entries of [0, 1000, 10_000, 100_000]) {
    const keys = new Float32Array(entries * width).map(() => Math.random() - 0.5)
    const tokens = new Int32Array(entries).fill(5)
    const datastore = entries > 0 ? await model.datastores.load({ keys, tokens, width, origin }) : null
    const nearest = datastore && { datastore, weight: 1e-6, neighbours: 64, temperature: 10 }
    const time = async (samples) => {
      const ask = (maxTokens) =>
        model.service.sampler.sample({
          prompt: [1, 2, 3],
          adapter: null,
          samples,
          params: { maxTokens, seed: 1, ...(nearest && { nearest }) },
        })
      await ask(2)
      const times = []
      for (let repeat = 0; repeat < 5; repeat++) {
        const start = process.cpuUsage()
        await ask(32)
        const { user, system } = process.cpuUsage(start)
        times.push((user + system) / 1000 / 32 / samples)
      }
      return median(times).toFixed(1)
    }
    console.log(
      `| ${entries} | ${((entries * (width + 1) * 4) / 1e6).toFixed(0)} | ${await time(1)} | ${await time(8)} |`,
    )
    if (datastore) await model.datastores.unload(datastore)
  }
}

const model = await openEmbeddedModel({ reference: flags.model, workers: 1, threadsPerWorker: 1 })
try {
  await (flags.speed ? speed(model) : quality(model))
} finally {
  await model.service.close()
}
