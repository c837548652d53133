import pc from 'picocolors'
import { PullRequestReview, reviewSignal } from '../../codec/index.ts'
import { defaultTenant, parseInput, type Signal, type Store, Tenant } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { said } from '../trajectory/said.ts'
import { linesOf, openLines } from '../transfer/lines-of.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

interface SignalsImportFlags extends StoreFlags {
  readonly name: string
  readonly tenant?: string
}

/** Lines of one file: they are recorded all at once, or not at all. */
const mostLines = 100_000
/** Bytes of one line: more than a review has. */
const longestLine = 64 * 1024
/** Lines whose errors are told. */
const mostTold = 20

/** `ratchet signals import FILE`: reviews of pull requests, one JSON object a line. One bad line, and nothing is recorded. */
export async function signalsImportCommand(file: string, flags: SignalsImportFlags): Promise<void> {
  const tenant = parseInput(Tenant, flags.tenant ?? defaultTenant, 'The tenant')
  const signals = await signalsIn(file, { tenant, name: flags.name })
  await withStore(flags, 'create', async (store) => {
    const outcomes = await store.signals.append(signals)
    const known = outcomes.filter((outcome) => outcome === 'repeated').length
    tell({ imported: outcomes.length - known, known, waiting: await waitingOf(store, signals) }, flags)
  })
}

/** @throws InputError that names the lines that cannot be read. */
async function signalsIn(file: string, as: Parameters<typeof reviewSignal>[1]): Promise<readonly Signal[]> {
  const signals: Signal[] = []
  const problems: string[] = []
  let bad = 0
  for await (const { line, number } of linesOf(file, await openLines(file), longestLine)) {
    if (number > mostLines) throw tooMany(file)
    try {
      signals.push(reviewSignal(parseInput(PullRequestReview, JSON.parse(line), `Line ${number}`), as))
    } catch (error) {
      bad += 1
      const message = (error as Error).message
      const named = message.startsWith(`Line ${number}`) ? message : `Line ${number}: ${message}`
      if (problems.length < mostTold) problems.push(said(named, 300))
    }
  }
  if (bad === 0) return signals
  const more = bad > problems.length ? `\n… and ${bad - problems.length} more` : ''
  throw new InputError({
    code: 'input/bad-record',
    message: `${bad} lines of ${file} are no reviews:\n${problems.join('\n')}${more}`,
    hint: 'Nothing was recorded. Correct them and run it again: {"trajectory": "…", "pullRequest": "org/app#12", "outcome": "accepted", "at": "2026-01-02T03:04:05Z"}.',
  })
}

/** Episodes that are not recorded here: what is said of them waits for them. */
async function waitingOf(store: Store, signals: readonly Signal[]): Promise<number> {
  let waiting = 0
  for (const id of new Set(signals.map(({ trajectory }) => trajectory))) {
    if ((await store.trajectories.get(id)) === null) waiting += 1
  }
  return waiting
}

function tell(
  told: { readonly imported: number; readonly known: number; readonly waiting: number },
  { json }: StoreFlags,
) {
  if (json) {
    process.stdout.write(`${JSON.stringify(told)}\n`)
    return
  }
  const before = told.known === 0 ? '' : ` ${told.known} were known already.`
  process.stdout.write(`${pc.green('✓')} ${told.imported} reviews are on record.${before}\n`)
  if (told.waiting > 0) {
    process.stdout.write(
      `  ${pc.yellow(`${told.waiting} episodes that they are about are not in this store: they wait for them.`)}\n`,
    )
  }
}

const tooMany = (file: string) =>
  new InputError({
    code: 'input/too-many-records',
    message: `The file ${file} has more than ${mostLines.toLocaleString('en')} lines.`,
    hint: 'Nothing was recorded. Split the file: what is imported twice is recorded once.',
  })
