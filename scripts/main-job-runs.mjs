/**
 * What `npm start` comes to, seed by seed: runs the built terminal once for each seed and repeat, and appends one JSON row
 * for each to a file. Rows that the file has are not run again, so that a long measurement can be cut and gone on with.
 * Prints the table of all rows at its end; with `--table`, only that.
 *
 *   npx tsc -b && node scripts/main-job-runs.mjs --seeds 0-9 --repeats 2
 *   node scripts/main-job-runs.mjs --minutes none --precision float32 --rows docs/runs/main-job-2026-11-27.jsonl
 *   node scripts/main-job-runs.mjs --minutes none --model smollm2-135m --precision int8 --seeds 0-2 --repeats 1 --rows docs/runs/main-job-smollm2.jsonl
 */
import { spawn } from 'node:child_process'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { measuredHere, rowsIn } from './rows.mjs'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '0-9' },
    repeats: { type: 'string', default: '2' },
    rows: { type: 'string', default: 'docs/runs/main-job.jsonl' },
    model: { type: 'string' },
    precision: { type: 'string' },
    minutes: { type: 'string', default: '7' },
    note: { type: 'string', default: '' },
    table: { type: 'boolean', default: false },
  },
})

const heldOut = 'single-hop reworded'

/** Seeds as `0-9` or `1,4,5`. */
function seedsOf(text) {
  const [first, last] = text.split('-').map(Number)
  return last === undefined
    ? text.split(',').map(Number)
    : Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** The events of one run of the terminal, as `--json` prints them, and its exit code. */
async function eventsOf(seed) {
  const folder = await mkdtemp(join(tmpdir(), 'ratchet-main-job-'))
  const args = ['dist/cli/main.js', 'learn', '--new-store', '--store', folder, '--json', '--seed', String(seed)]
  if (values.model !== undefined) args.push('--model', values.model)
  if (values.precision !== undefined) args.push('--precision', values.precision)
  if (values.minutes !== 'none') args.push('--minutes', values.minutes)
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const failed = createInterface({ input: child.stderr })
  const said = []
  failed.on('line', (line) => said.push(line))
  const ended = new Promise((resolve) => child.once('close', resolve))
  const events = []
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line)
    if (event.type === 'updated' || event.type === 'primed')
      process.stderr.write(`\rseed ${seed}: ${event.type} ${event.update ?? event.pass}   `)
    events.push(event)
  }
  process.stderr.write('\n')
  const code = await ended
  await rm(folder, { recursive: true, force: true })
  return { events, code, said: said.at(-1) ?? null }
}

const attemptsIn = (event) =>
  event.type === 'updated' ? event.rollouts.n : event.type === 'looked' ? event.diagnosis.attempts : 0

/** Attempts at training tasks until validation first reached this. */
function episodesTo(success, events) {
  let episodes = 0
  for (const event of events) {
    episodes += attemptsIn(event)
    if (event.type === 'evaluated' && event.split === 'validation' && event.rate.success >= success) return episodes
  }
  return null
}

async function rowOf(seed, repeat) {
  const began = Date.now()
  const { events, code, said } = await eventsOf(seed)
  const all = {
    seed,
    repeat,
    ...measuredHere(),
    note: values.note,
    // What is not given, JSON leaves out.
    model: values.model,
    precision: values.precision,
    minutes: values.minutes === 'none' ? undefined : Number(values.minutes),
  }
  const summary = events.findLast(({ type }) => type === 'summary')
  const seconds = Math.round((Date.now() - began) / 1000)
  if (!summary) return { ...all, seconds, code, error: said }
  const measured = (arm) =>
    events.find(
      (event) => event.type === 'evaluated' && event.split === 'holdout' && event.arm === arm && event.tier === heldOut,
    )?.rate
  return {
    ...all,
    precision: summary.precision,
    seconds,
    learningSeconds: Math.round(events.findLast(({ type }) => type === 'updated').seconds),
    ended: events.findLast(({ type }) => type === 'enough' || type === 'stopped')?.reason,
    updates: events.filter(({ type }) => type === 'updated').length,
    episodesTo85: episodesTo(0.85, events),
    decision: summary.decision,
    primed: summary.primed.success,
    learned: summary.learned.success,
    n: summary.learned.n,
    reworded: measured('learned')?.success ?? null,
    nReworded: measured('learned')?.n ?? 0,
    validation: events
      .filter(({ type, split }) => type === 'evaluated' && split === 'validation')
      .map(({ update, rate }) => [update, Number(rate.success.toFixed(3))]),
  }
}

const percent = (share) => (share === null || share === undefined ? '' : (share * 100).toFixed(1))
const median = (numbers) => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

function printTable(rows) {
  const done = rows.filter(({ error }) => error === undefined)
  console.log('| seed | primed | learned | held-out wordings | updates | attempts to 85 % | seconds | decision |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const row of rows.toSorted((a, b) => a.seed - b.seed || a.repeat - b.repeat)) {
    if (row.error !== undefined) console.log(`| ${row.seed} | ${row.error} | | | | | ${row.seconds} | |`)
    else {
      const cells = [
        percent(row.primed),
        percent(row.learned),
        percent(row.reworded),
        row.updates,
        row.episodesTo85 ?? '',
        row.seconds,
        row.decision,
      ]
      console.log(`| ${row.seed} | ${cells.join(' | ')} |`)
    }
  }
  if (done.length === 0) return
  for (const [name, of] of [
    ['learned', 'learned'],
    ['held-out wordings', 'reworded'],
  ]) {
    const shares = done.map((row) => row[of]).filter((share) => share !== null)
    console.log(
      `\n${name}: ${shares.length} runs, least ${percent(Math.min(...shares))}, median ${percent(median(shares))}, greatest ${percent(Math.max(...shares))}`,
    )
  }
  console.log(`\nmedian seconds: ${median(done.map(({ seconds }) => seconds))}`)
}

if (!values.table) {
  for (let repeat = 1; repeat <= Number(values.repeats); repeat++) {
    for (const seed of seedsOf(values.seeds)) {
      const known = (await rowsIn(values.rows)).some((row) => row.seed === seed && row.repeat === repeat)
      if (!known) await appendFile(values.rows, `${JSON.stringify(await rowOf(seed, repeat))}\n`)
    }
  }
}
printTable(await rowsIn(values.rows))
