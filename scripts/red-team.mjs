/**
 * The red team: tricks and honest candidates in canaries on recorded sessions, against crowds of scripted people. Prints
 * Markdown tables, and with `--out` writes one JSON row a canary.
 *
 *     npx tsc -b && node scripts/red-team.mjs [--half first|second] [--classes a,b] [--crowds a,b] [--seeds N] [--quick]
 *
 * - `--half` names the classes that are tried (scripts/red-team/classes.mjs); by default both.
 * - `--quick`: all classes against one crowd, with few labels, in a minute. `--http`: calls go through the gateway's routes.
 * - `--only tricks|honest`; `--defences behaviour-only,audited`; `--base 0.75`: share of right answers of what serves;
 *   `--gains 0,0.15`: honest candidates of these alone; `--without cost,seconds`: these guards are off.
 * - `--resume`: canaries that the file of `--out` holds are not run again.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { DEFENCES, runCanary } from './red-team/canary.mjs'
import { classesOf, HALVES } from './red-team/classes.mjs'
import { GAINS, honestCandidates } from './red-team/honest.mjs'
import { honestTable, trickTables } from './red-team/tables.mjs'
import { CROWDS } from './red-team/temperaments.mjs'

const { values } = parseArgs({
  options: {
    half: { type: 'string' },
    only: { type: 'string' },
    classes: { type: 'string' },
    crowds: { type: 'string' },
    base: { type: 'string' },
    defences: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    http: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    gains: { type: 'string' },
    without: { type: 'string' },
    out: { type: 'string' },
    resume: { type: 'boolean', default: false },
  },
})
const listed = (text, known, what) => {
  const names = text?.split(',') ?? known
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`${what} "${unknown}" is none of: ${known.join(', ')}`)
  return names
}
const { quick, base } = values
const only = listed(values.only, ['tricks', 'honest'], 'part')
const without =
  values.without === undefined ? {} : { without: listed(values.without, ['cost', 'seconds', 'inaction'], 'guard') }
const crowds = listed(values.crowds, Object.keys(CROWDS), 'crowd')

/** Judged candidate sessions, and labels, after which a canary is given up. */
const LIMITS = quick ? { sessions: 150, labels: 80 } : { sessions: 500, labels: 250 }
const HONEST_LIMITS = { sessions: 500, labels: 600 }

/** Each crowd at a base rate of one half; where none are named, one of all temperaments at a higher rate besides. */
const PLACES = quick
  ? [['mixed', Number(base ?? 0.5)]]
  : [...crowds.map((crowd) => [crowd, Number(base ?? 0.5)]), ...(values.crowds || base ? [] : [['mixed', 0.75]])]

/** Rows of an earlier run that was cut off: of the same code, which the caller answers for. */
const rows =
  values.resume && values.out && existsSync(values.out)
    ? readFileSync(values.out, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
async function run(candidate, { limits, ...where }) {
  const { name, half = null, family = 'honest', gain = null } = candidate
  for (let seed = 1; seed <= Number(values.seeds); seed++) {
    const row = { name, half, family, gain, ...where, seed }
    if (rows.some((known) => isDeepStrictEqual({ ...known, ...row }, known))) continue
    // Tricks of the first half meet the same luck in a crowd, as they are compared. Those of the second, and honest candidates,
    // are counted together, and each has its own.
    const luck = half === 'first' ? seed : `${name} ${seed}`
    rows.push({ ...row, ...(await runCanary({ candidate, limits, seed: luck, http: values.http, ...where })) })
    if (values.out) writeFileSync(values.out, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
}

const halves = listed(values.half, HALVES, 'half')
const known = only.includes('tricks') ? await classesOf(halves) : []
const wanted = listed(
  values.classes,
  known.map(({ name }) => name),
  'class',
)
const tricks = known.filter(({ name }) => wanted.includes(name))
const defences = listed(values.defences, quick ? ['audited'] : Object.keys(DEFENCES), 'defence')
for (const trick of tricks) {
  for (const [crowd, base] of PLACES)
    for (const defence of defences) await run(trick, { crowd, base, defence, ...without, limits: LIMITS })
}
if (tricks.length > 0) trickTables(tricks, rows, { limits: LIMITS, halves })

if (only.includes('honest') && !quick) {
  const gains = listed(values.gains, GAINS.map(String), 'gain').map(Number)
  for (const candidate of honestCandidates().filter(({ gain }) => gains.includes(gain))) {
    await run(candidate, {
      crowd: 'mixed',
      base: Number(base ?? 0.5),
      defence: 'audited',
      limits: HONEST_LIMITS,
    })
  }
  honestTable(
    rows.filter(({ family }) => family === 'honest'),
    { limits: HONEST_LIMITS },
  )
}
