/**
 * Learning evidence: the default recipe on each world, with 32 demonstrations, beside an equal-time control that only
 * imitates. One JSON object a line for each run.
 *
 * `--rows FILE`: appends each run's row to a file, and does not run again what has one there, so that a long measurement can
 * be cut and gone on with. Prints the table of all rows at its end; with `--table`, only that.
 *
 *     npx tsc -b && node scripts/learning-evidence.mjs --worlds desk,files --seeds 1,2,3,4,5 [--control] [--demonstrations 32]
 *
 * `--model smollm2-135m`: another model than the bundled one, which `ratchet pull` fetches.
 * `--first mdn`: another world is learned before each, and the run begins from what came of it: a curriculum.
 * `--policy '{"learningRate":3e-4}'`: another policy gradient than the recipe's.
 * `--stores FOLDER`: each run's store is kept there, and the same command goes on with a run that was cut; `seconds` are then
 * those since.
 */
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openEmbeddedModel } from '../dist/model/index.js'
import {
  brokenCalls,
  learn,
  openStore,
  policyGradient,
  recipe,
  repetition,
  rollouts,
  rubric,
  verifier,
} from '../dist/index.js'
import { releasedAdapters } from '../dist/learn/index.js'
import { measuredHere, rowsIn } from './rows.mjs'
import { agentOf, demonstrationsOf, reference, worlds } from './worlds.mjs'

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: 'desk,files,catalog,composed' },
    seeds: { type: 'string', default: '1,2,3,4,5' },
    model: { type: 'string', default: reference },
    precision: { type: 'string', default: 'auto' },
    demonstrations: { type: 'string', default: '32' },
    first: { type: 'string' },
    control: { type: 'boolean', default: false },
    schedule: { type: 'string', default: '{}' },
    policy: { type: 'string', default: '{}' },
    holdout: { type: 'string', default: '400' },
    stores: { type: 'string' },
    rows: { type: 'string' },
    note: { type: 'string', default: '' },
    table: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
})

async function run(name, seed) {
  const opened = await openEmbeddedModel({ reference: values.model, renderer: 'compact', precision: values.precision })
  const kept = values.stores && join(values.stores, `${name}-${seed}`)
  if (kept) await mkdir(kept, { recursive: true })
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'ratchet-evidence-')))
  const store = await openStore({ path: join(folder, 'ratchet.db') })
  const began = Date.now()
  const about = () => ({ world: name, seed, precision: opened.precision, seconds: (Date.now() - began) / 1000 })
  try {
    const first = values.first === undefined ? undefined : await lesson(opened, store, values.first, seed, [])
    const startFrom = first ? await releasedAdapters(store, [values.first]) : []
    const learned = await lesson(opened, store, name, seed, startFrom, { control: values.control })
    return { ...about(), ...(first && { first }), ...learned }
  } catch (error) {
    return {
      ...about(),
      error: { code: error.code, message: error.message, hint: error.hint },
      stack: error.code ? undefined : error.stack,
    }
  } finally {
    await store.close()
    await opened.service.close()
    if (!kept) await rm(folder, { recursive: true, force: true })
  }
}

/** One run of learning, in one world. */
async function lesson(opened, store, name, seed, startFrom, options = {}) {
  const world = worlds[name]((text) => opened.countTokens(text))
  const { environment, tasks, check } = world
  const demonstrations = await demonstrationsOf(world, { count: Number(values.demonstrations), seed })
  const [last] = await store.runs.list({ agent: name, limit: 1 })
  const summary = await learn(agentOf(name, values.model), {
    ...(last && { resume: last.id }),
    model: opened.service,
    store,
    source: rollouts(environment, [...tasks.train, ...tasks.validation, ...tasks.holdout]),
    prime: { demonstrations, startFrom },
    reward: rubric({ solved: verifier(check) }, { guards: [brokenCalls(), repetition()] }),
    optimize: { model: policyGradient({ ...recipe.policy, ...JSON.parse(values.policy) }) },
    schedule: { holdoutTasks: Number(values.holdout), ...JSON.parse(values.schedule) },
    ...options,
    seed,
    onEvent: (event) => {
      if (values.verbose && event.type !== 'progress') console.log(JSON.stringify(event))
    },
  })
  const events = await store.runs.events(summary.runId)
  return { summary, episodes: episodesOf(events), byTier: byTierOf(events) }
}

/** What each arm came to on the held-out tasks of each tier. */
function byTierOf(events) {
  const byTier = {}
  for (const { type, data } of events) {
    if (type !== 'evaluated' || data.split !== 'holdout') continue
    byTier[data.tier] = { ...byTier[data.tier], [data.arm]: data.rate }
  }
  return byTier
}

/** The attempts of a run, by its stored events. */
const episodesOf = (events) =>
  events.reduce(
    (sum, { type, data }) =>
      sum + (type === 'updated' ? data.rollouts.n : type === 'looked' ? data.diagnosis.attempts : 0),
    0,
  )

/** What a file of rows keeps of a run. */
function rowOf(result) {
  const { summary, ...told } = result
  const measured = { ...measuredHere(), note: values.note, model: values.model }
  if (!summary) return { ...measured, ...told }
  const { base, primed, control, learned, decision, brought } = summary
  return { ...measured, ...told, base, primed, control, learned, decision, ...(brought && { brought }) }
}

/** A rate in per cent, with its interval. */
function percent(rate) {
  if (!rate) return ''
  const [low, high] = rate.ci.map((share) => (100 * share).toFixed(1))
  return `${(100 * rate.success).toFixed(1)} [${low}, ${high}]`
}

/** The success of the learned policy in each tier, in per cent. */
const tiersOf = ({ byTier = {} }) =>
  Object.entries(byTier)
    .flatMap(([tier, { learned }]) => (learned ? [`${tier} ${(100 * learned.success).toFixed(1)}`] : []))
    .join(', ')

function printTable(rows) {
  console.log('| world | seed | base | primed | control | learned | learned, by tier | decision | attempts | seconds |')
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  for (const row of rows.toSorted((a, b) => a.world.localeCompare(b.world) || a.seed - b.seed)) {
    const cells = row.error
      ? [row.error.code ?? row.error.message, '', '', '', '', '', '']
      : [...[row.base, row.primed, row.control, row.learned].map(percent), tiersOf(row), row.decision, row.episodes]
    console.log(`| ${[row.world, row.seed, ...cells, Math.round(row.seconds)].join(' | ')} |`)
  }
}

if (values.table && values.rows === undefined) throw new Error('--table needs --rows FILE')
for (const name of values.table ? [] : values.worlds.split(',')) {
  for (const seed of values.seeds.split(',').map(Number)) {
    const known = values.rows === undefined ? [] : await rowsIn(values.rows)
    if (known.some((row) => row.world === name && row.seed === seed)) continue
    const result = await run(name, seed)
    console.log(JSON.stringify(result))
    if (values.rows !== undefined) await appendFile(values.rows, `${JSON.stringify(rowOf(result))}\n`)
  }
}
if (values.rows !== undefined) printTable(await rowsIn(values.rows))
process.exit(0)
