/**
 * How fast a memory recalls, and how many of the nearest it finds: sketched search against exact search over the same
 * vectors, a whole recall through the Kind, and what learning pays to find the cases that answer the same as a new one.
 *
 *   npm run build && node bench/memory.mjs [--items 100000] [--queries 500]
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { exactSearch, lexicalEmbedder, memory, memoryKind, sketchedSearch } from '../dist/agent/index.js'
import { dot, rng } from '../dist/core/index.js'
import { Collection } from '../dist/optimize/memory/collection.js'
import { clustered, practiceItem, sentenceOf, sentences } from './memory-vectors.mjs'

const { values } = parseArgs({
  options: { items: { type: 'string', default: '100000' }, queries: { type: 'string', default: '500' } },
})
const [items, queries] = [Number(values.items), Number(values.queries)]
const amount = { count: items, queries }
const floor = 0.35
const wanted = 20

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
const ms = (value) => `${value.toFixed(2)} ms`

async function compare(name, { vectors, asked }) {
  const began = performance.now()
  const sketched = await sketchedSearch(vectors)
  const built = performance.now() - began
  const exact = exactSearch(vectors)
  const times = { sketched: [], exact: [] }
  const cpu = []
  let [found, there, none] = [0, 0, 0]
  const timed = (kind, search, query) => {
    const [start, used] = [performance.now(), process.cpuUsage()]
    const near = search.search(query, wanted, floor)
    times[kind].push(performance.now() - start)
    if (kind === 'sketched') cpu.push(process.cpuUsage(used).user / 1_000)
    return near
  }
  for (const query of asked.slice(0, 50)) sketched.search(query, wanted, floor)
  for (const [i, query] of asked.entries()) {
    const near = new Set(timed('sketched', sketched, query).map(({ row }) => row))
    if (i >= 200) continue
    const right = timed('exact', exact, query)
    if (right.length === 0) none++
    there += right.length
    found += right.filter(({ row }) => near.has(row)).length
  }
  for (const list of [...Object.values(times), cpu]) list.sort((a, b) => a - b)
  const recall = there === 0 ? 'nothing near enough' : (found / there).toFixed(4)
  const [p50, p99, exact50] = [at(times.sketched, 0.5), at(times.sketched, 0.99), at(times.exact, 0.5)]
  console.log(
    `| ${name} | ${recall} | ${none} | ${ms(p50)} | ${ms(p99)} | ${ms(at(cpu, 0.99))} | ${ms(exact50)} | ${(exact50 / p50).toFixed(1)}x | ${(built / 1000).toFixed(1)} s |`,
  )
}

console.log(
  `${items} items, ${queries} queries, the ${wanted} nearest with a cosine of ${floor} or more; ${availableParallelism()} cores, Node ${process.version}\n`,
)
console.log(
  '| vectors | recall@20 against exact | queries with nothing near | p50 | p99 | p99 on the processor | exact p50 | ratio | built in |',
)
console.log('|---|---|---|---|---|---|---|---|---|')
await compare(
  'clusters, 384 numbers',
  clustered({ ...amount, dimensions: 384, centres: 2_000, spread: 0.9, name: 'clusters' }),
)
await compare(
  'wide clusters, 384 numbers',
  clustered({ ...amount, dimensions: 384, centres: 200, spread: 1.3, name: 'wide' }),
)
await compare('sentences by words, 512 numbers', await sentences(amount))

/** A whole recall: the query's vector, the search, the ranking, the message. */
async function whole() {
  const chance = rng('bench', 'whole')
  const embedder = lexicalEmbedder()
  const many = new Map()
  while (many.size < items) {
    const item = practiceItem({
      cue: sentenceOf(chance),
      text: `done ${many.size}`,
      source: `s${many.size}`,
      utility: chance.next(),
    })
    many.set(item.id, item)
  }
  const kind = memoryKind(embedder)
  const start = performance.now()
  const value = kind.value.parse({ ...memory().initial(() => ''), items: [...many.values()] })
  const parsed = performance.now() - start
  const ask = (text, i) =>
    kind
      .handle(
        { kind: 'memory', inForce: { version: 'v', generation: 1, checkpoint: null }, value, rng: rng(i) },
        { decide() {} },
        'cases',
      )
      .recall(text)
  const first = performance.now()
  await ask('Please repair my broken kettle', 0)
  const opened = performance.now() - first
  const [times, cpu] = [[], []]
  for (let i = 0; i < queries; i++) {
    const query = sentenceOf(chance)
    const [begin, used] = [performance.now(), process.cpuUsage()]
    await ask(query, i)
    times.push(performance.now() - begin)
    const { user, system } = process.cpuUsage(used)
    cpu.push((user + system) / 1_000)
  }
  for (const list of [times, cpu]) list.sort((a, b) => a - b)
  console.log(
    `\nA whole recall: p50 ${ms(at(times, 0.5))}, p99 ${ms(at(times, 0.99))}, p99 on the processor ${ms(at(cpu, 0.99))}; read in ${(parsed / 1000).toFixed(1)} s and made ready in ${(opened / 1000).toFixed(1)} s, once a process and Version.`,
  )
  await alike(value, embedder, chance)
  console.log(
    `Resident memory: ${Math.round(process.memoryUsage.rss() / 1e6)} MB; the value as JSON: ${Math.round(JSON.stringify(value).length / 1e6)} MB.`,
  )
}
/** Cases that answer the same as a new one: with the index, and by comparing with each. */
async function alike(value, embedder, chance) {
  const collection = new Collection(value, embedder)
  const like = value.items[0]
  const begin = performance.now()
  await collection.alike(like, 0.95)
  const filled = performance.now() - begin
  const [vectors, times, each] = [await embedder.embed(value.items.map(({ cue }) => cue)), [], []]
  await collection.alike(like, 0.95)
  for (let i = 0; i < queries; i++) {
    const item = { ...like, id: `new ${i}`, cue: sentenceOf(chance) }
    const start = performance.now()
    await collection.alike(item, 0.95)
    times.push(performance.now() - start)
    const again = performance.now()
    const [asked] = await embedder.embed([item.cue])
    vectors.filter((vector) => dot(asked, vector) >= 0.95)
    each.push(performance.now() - again)
  }
  for (const list of [times, each]) list.sort((a, b) => a - b)
  console.log(
    `What answers the same as a new case: p50 ${ms(at(times, 0.5))}, p99 ${ms(at(times, 0.99))}; by comparing with each p50 ${ms(at(each, 0.5))}. Made ready in ${(filled / 1000).toFixed(1)} s, once a session.`,
  )
}

await whole()
