// The proof, by one command: see README.md beside it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openEmbeddedModel } from 'ratchet-agents/model'
import { renderReport } from './report.mjs'
import { points, verdictOf } from './report/verdicts.mjs'
import { sizes, story } from './story.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '3' },
    first: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    'behaviour-only': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
})
const evidence = values['behaviour-only'] ? 'behaviour' : 'truth'
const size = { ...(values.quick ? sizes.quick : sizes.full), evidence }
const seeds = Array.from({ length: values.quick ? 1 : Number(values.seeds) }, (_, i) => Number(values.first) + i)
const out = resolve(values.out ?? (values.quick ? 'online-results-quick' : 'online-results'))
mkdirSync(out, { recursive: true })

const began = Date.now()
const results = {
  command: `node examples/online/main.mjs ${process.argv.slice(2).join(' ')}`.trim(),
  commit: commit(),
  machine: `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}`,
  at: new Date(began).toISOString(),
  quick: values.quick,
  evidence,
  seeds: [],
}
for (const seed of seeds) {
  const tell = (line) => console.log(`seed ${seed}  ${minutes(Date.now() - began)}  ${line}`)
  const folder = join(out, `seed-${seed}`)
  const opened = await openEmbeddedModel({ reference: 'minimind2-small', renderer: 'compact', precision: 'auto' })
  try {
    results.seeds.push(await story({ opened, folder, seed, size, tell }))
  } finally {
    await opened.service.close()
  }
  writeFileSync(join(out, 'results.json'), JSON.stringify(results))
  writeFileSync(join(out, 'report.html'), renderReport(results))
  tell(`done; ${join(out, 'report.html')} shows it${seed === seeds.at(-1) ? '' : ' so far'}`)
}
for (const point of points) console.log(`${verdictOf(point, results.seeds).text.padEnd(20)}  ${point.question}`)

function minutes(ms) {
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`.padStart(6)
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}
