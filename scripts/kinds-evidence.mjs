/**
 * Whether learning a kind of Parameter helps: against the same program without it, over seeds, with intervals.
 *
 *   npm run build && node scripts/kinds-evidence.mjs --kind memory [--seeds 5]
 *
 * A kind is a file in scripts/kinds-evidence that exports `evidence(seeds)`.
 */
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { kind: { type: 'string' }, seeds: { type: 'string', default: '5' } } })
const file = new URL(`./kinds-evidence/${values.kind}.mjs`, import.meta.url)
const seeds = Number(values.seeds)
if (!/^[a-z-]+$/.test(values.kind ?? '') || !existsSync(file) || !(Number.isInteger(seeds) && seeds >= 2)) {
  console.error('Usage: node scripts/kinds-evidence.mjs --kind memory [--seeds 5, at least 2]')
  process.exit(1)
}
const { evidence } = await import(file)
await evidence(Array.from({ length: seeds }, (_, i) => i + 1))
