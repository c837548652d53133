// Durable records a second through the store against the raw driver that makes the same rows of the same bytes, and how
// long the event loop is kept waiting. Sides take turns, round by round. PostgreSQL too, where a server is reached:
//   npm run build && node bench/store.mjs [--rounds 5] [--seconds 1] [--callers 1,8,32,128] [--postgres URL]
// On a disk whose fsync takes 4 ms (Linux):
//   cc -shared -fPIC -o /tmp/slow-fsync.so bench/store/slow-fsync.c -ldl
//   SLOW_FSYNC_MS=4 LD_PRELOAD=/tmp/slow-fsync.so node bench/store.mjs
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { openStore } from '../dist/store/index.js'
import { concurrently, measure } from './store/measure.mjs'
import { openRawPostgres } from './store/raw-postgres.mjs'
import { openRawSqlite } from './store/raw-sqlite.mjs'
import { call, episode } from './store/records.mjs'
import { insertsOf } from './store/rows.mjs'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    callers: { type: 'string', default: '1,8,32,128' },
    postgres: { type: 'string', default: 'postgres://postgres@127.0.0.1:5432/postgres' },
  },
})
const rounds = Number(flags.rounds)
const seconds = Number(flags.seconds)
const callerCounts = flags.callers.split(',').map(Number)

/** Written before each measurement, for as long as a third of it. */
const warmUp = seconds / 3

const scenes = [
  { name: 'trajectories.append, 4 KB', write: (store, id) => store.trajectories.append([episode(id)]) },
  { name: 'traffic.append, 4 KB', write: (store, id) => store.traffic.append(call(id, 0)) },
  { name: 'traffic.append, 4 KB and 1,000 tokens', write: (store, id) => store.traffic.append(call(id, 1000)) },
]

let ids = 0
const nextId = () => `record-${String(ids++).padStart(12, '0')}`

/** A side: `write` runs until it is over, and resolves with what was acknowledged. */
async function openStoreSide(scene, open) {
  const store = await open()
  return {
    write: (callers, isOver) => concurrently(callers, isOver, () => scene.write(store, nextId())),
    close: () => store.close(),
  }
}

async function openRawSide(scene, openStoreThere, openRaw) {
  const store = await openStoreThere()
  const id = nextId()
  await scene.write(store, id)
  await store.close()
  const raw = await openRaw()
  const run = raw.prepare(await insertsOf(raw.rowsOf, id))
  return { write: (callers, isOver) => run(callers, isOver, nextId), close: async () => raw.close() }
}

/** Opens the sides of one database anew, each with an empty one of its own; the raw driver first. */
async function openSqliteSides(scene) {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-bench-'))
  const at = (name) => join(folder, name, 'ratchet.db')
  const open = (thread) => () => openStore({ path: at(thread), thread })
  return {
    sides: {
      raw: await openRawSide(
        scene,
        () => openStore({ path: at('raw'), thread: 'main' }),
        () => openRawSqlite(at('raw')),
      ),
      'one thread': await openStoreSide(scene, open('main')),
      threads: await openStoreSide(scene, open('worker')),
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function openPostgresSides(scene) {
  const names = ['raw', 'store'].map((side) => `ratchet_bench_${side}_${randomUUID().replaceAll('-', '')}`)
  for (const name of names) await onServer(`create database ${name}`)
  const [raw, store] = names.map((name) => Object.assign(new URL(flags.postgres), { pathname: `/${name}` }).href)
  return {
    sides: {
      raw: await openRawSide(
        scene,
        () => openStore({ url: raw }),
        () => openRawPostgres(raw),
      ),
      store: await openStoreSide(scene, () => openStore({ url: store })),
    },
    remove: async () => {
      for (const name of names) await onServer(`drop database if exists ${name} with (force)`)
    },
  }
}

async function onServer(sql) {
  const client = new Client({ connectionString: flags.postgres })
  await client.connect()
  await client.query(sql)
  await client.end()
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const spread = (values, digits) => {
  const show = (value) => value.toFixed(digits)
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

async function compare(database, openSides) {
  for (const scene of scenes) {
    /** By callers, by side: one figure of every kind a round. */
    const figures = new Map(callerCounts.map((callers) => [callers, {}]))
    for (let round = 0; round < rounds; round++) {
      const { sides, remove } = await openSides(scene)
      for (const callers of callerCounts) {
        for (const [name, side] of Object.entries(sides)) {
          await measure(warmUp, (isOver) => side.write(callers, isOver))
          const measured = await measure(seconds, (isOver) => side.write(callers, isOver))
          const kept = (figures.get(callers)[name] ??= [])
          kept.push(measured)
        }
      }
      for (const side of Object.values(sides)) await side.close()
      await remove()
    }
    print(`${database}: ${scene.name}`, figures)
  }
}

function print(title, figures) {
  console.log(`\n${title}`)
  console.log(
    '| callers | side | records/s | of raw | CPU µs a record | this thread busy µs | timers late ms p50 / p99 |',
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const [callers, sides] of figures) {
    for (const [name, kept] of Object.entries(sides)) {
      const of = (field) => kept.map((figure) => figure[field])
      const ratios = kept.map(({ perSecond }, round) => perSecond / sides.raw[round].perSecond)
      const late = name === 'raw' ? '' : `${median(of('lateP50')).toFixed(1)} / ${median(of('lateP99')).toFixed(1)}`
      const cells = [
        callers,
        name,
        Math.round(median(of('perSecond'))).toLocaleString('en'),
        name === 'raw' ? '' : `${spread(ratios, 2)}x`,
        median(of('cpu')).toFixed(0),
        name === 'raw' ? '' : median(of('busy')).toFixed(0),
        late,
      ]
      console.log(`| ${cells.join(' | ')} |`)
    }
  }
}

console.log(`Node ${process.versions.node}; n = ${rounds} rounds of ${seconds} s; target 0.5x of raw`)
await compare('SQLite', openSqliteSides)
const reached = await onServer('select 1').then(
  () => true,
  (error) => console.log(`\nPostgreSQL: not measured (${error.message})`),
)
if (reached) await compare('PostgreSQL', openPostgresSides)
