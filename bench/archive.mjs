/**
 * How fast a memory recalls from an archive of a million items, and how many of the nearest it finds: beside comparing with
 * each vector, in the same run.
 *
 *   npm run build && node bench/archive.mjs [--items 1000000] [--queries 500] [--compared 100] [--threads 2] [--vectors sentences]
 *
 * `--vectors`: `sentences`, as the default embedder has them, or `clusters`, as those of a sentence model lie. `--folder`: the
 * archive is kept there, and built only where it is not there yet.
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildMemoryArchive, exactSearch, memory, memoryKind, openMemoryArchive } from '../dist/agent/index.js'
import { dot, rng } from '../dist/core/index.js'
import { clustered, practiceItem, sentences } from './memory-vectors.mjs'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    queries: { type: 'string', default: '500' },
    compared: { type: 'string', default: '100' },
    threads: { type: 'string', default: String(availableParallelism()) },
    vectors: { type: 'string', default: 'sentences' },
    folder: { type: 'string' },
  },
})
const [items, queries, compared] = [values.items, values.queries, values.compared].map(Number)
const floor = 0.35
const wanted = 20
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
const ms = (value) => `${value.toFixed(2)} ms`
const sorted = (list) => list.toSorted((a, b) => a - b)

/** Fifty more are asked before anything is measured. */
const amount = { count: items, queries: queries + 50 }
const { vectors, asked } =
  values.vectors === 'sentences'
    ? await sentences(amount)
    : clustered({ ...amount, dimensions: 384, centres: 20_000, spread: 0.9, name: 'clusters' })
const dimensions = asked[0].length

/** Cues say which vector is theirs: what embeds is not measured. */
const vectorOf = (cue) => {
  const [what, row] = cue.split(' ')
  return (what === 'item' ? vectors : asked)[Number(row)]
}
const embedder = {
  name: `bench-${values.vectors}`,
  dimensions,
  costly: false,
  embed: async (texts) => texts.map(vectorOf),
}
function* archived() {
  for (let row = 0; row < items; row++) {
    yield practiceItem({ cue: `item ${row}`, text: `done ${row}`, source: `s${row}` })
  }
}

const root = values.folder ?? (await mkdtemp(join(tmpdir(), 'ratchet-bench-archive-')))
const folder = join(root, `${values.vectors}-${items}`)
let built = 'before'
if ((await stat(folder).catch(() => null)) === null) {
  const [began, used] = [performance.now(), process.cpuUsage()]
  let told = began
  await buildMemoryArchive(folder, {
    items: archived(),
    embedder,
    threads: Number(values.threads),
    onProgress({ rows, perSecond }) {
      if (performance.now() - told < 10_000) return
      told = performance.now()
      console.error(
        `${rows} of ${items}, ${Math.round(perSecond)} a second, ${Math.round((items - rows) / perSecond)} s left`,
      )
    },
  })
  const spent = process.cpuUsage(used)
  built = `${((performance.now() - began) / 1000).toFixed(0)} s (${((spent.user + spent.system) / 1e6).toFixed(0)} of processors)`
}
let bytes = 0
for (const file of await readdir(folder)) bytes += (await stat(join(folder, file))).size

const opening = performance.now()
const archive = await openMemoryArchive(folder)
const opened = performance.now() - opening

const exact = exactSearch(vectors)
const times = { archive: [], exact: [], whole: [] }
const cpu = []
let [found, there] = [0, 0]
const every = () => true
for (const query of asked.slice(queries)) archive.near(query, wanted, floor, every)
for (const [i, query] of asked.slice(0, queries).entries()) {
  const [start, used] = [performance.now(), process.cpuUsage()]
  const near = new Set(archive.near(query, wanted, floor, every).map(({ item }) => Number(item.cue.split(' ')[1])))
  times.archive.push(performance.now() - start)
  const spent = process.cpuUsage(used)
  cpu.push((spent.user + spent.system) / 1_000)
  if (i >= compared) continue
  const again = performance.now()
  const right = exact.search(query, wanted, floor)
  times.exact.push(performance.now() - again)
  // Of equally near ones, any will do: many sentences are alike.
  const least = right.at(-1)?.similarity ?? 1
  there += right.length
  found += Math.min(right.length, [...near].filter((row) => dot(query, vectors[row]) >= least - 1e-6).length)
}
const kind = memoryKind(embedder, [archive])
const value = kind.value.parse(memory({ archives: [archive], embedder }).initial(() => ''))
const inForce = { version: 'v', generation: 1, checkpoint: null }
for (let i = 0; i < queries; i++) {
  const start = performance.now()
  await kind.handle({ kind: 'memory', inForce, value, rng: rng(i) }, { decide() {} }, 'cases').recall(`asked ${i}`)
  times.whole.push(performance.now() - start)
}

const [fast, slow, whole] = [times.archive, times.exact, times.whole].map(sorted)
console.log(
  `${items} items of ${dimensions} numbers (${values.vectors}), ${queries} queries, the ${wanted} nearest with a cosine of ${floor} or more; Node ${process.version}`,
)
console.log(
  '| recall@20 against exact | p50 | p99 | p99 on the processor | exact p50 | ratio | a whole recall, p50 / p99 | built in | opened in | on disk |',
)
console.log('|---|---|---|---|---|---|---|---|---|---|')
console.log(
  `| ${(found / there).toFixed(4)} of ${there} | ${ms(at(fast, 0.5))} | ${ms(at(fast, 0.99))} | ${ms(at(sorted(cpu), 0.99))} | ${ms(at(slow, 0.5))} | ${Math.round(at(slow, 0.5) / at(fast, 0.5))}x | ${ms(at(whole, 0.5))} / ${ms(at(whole, 0.99))} | ${built} | ${ms(opened)} | ${Math.round(bytes / 1e6)} MB |`,
)
archive.close()
if (values.folder === undefined) await rm(root, { recursive: true, force: true })
