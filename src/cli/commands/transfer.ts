import pc from 'picocolors'
import {
  AtifTrajectory,
  defaultTenant,
  type Exported,
  fromAtif,
  fromVerifiers,
  groupRows,
  type Imported,
  type ImportOptions,
  parseInput,
  preferenceRows,
  type Rows,
  sftRows,
  type Split,
  type Store,
  Tenant,
  toAtif,
  toVerifiers,
  type TrajectoryFilter,
  VerifiersTrace,
} from '../../core/index.ts'
import { InputError, RatchetError } from '../../errors/index.ts'
import { said } from '../trajectory/said.ts'
import { linesOf, openLines } from '../transfer/lines-of.ts'
import { newFile, standardOutput } from '../transfer/row-writer.ts'
import { type StoreFlags, withStore } from '../with-store.ts'
import { rewardedBy } from '../rewarded-by.ts'
import { type FilterFlags, filterOf } from './trajectories.ts'

/** What `ratchet export` writes. */
export const exportFormats = ['atif', 'verifiers', 'sft', 'dpo', 'grpo'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** What `ratchet import` reads. */
export const importFormats = ['atif', 'verifiers'] as const
export type ImportFormat = (typeof importFormats)[number]

interface ExportFlags extends FilterFlags {
  readonly format: ExportFormat
  readonly out?: string
  /** Take the mean of the signals of this name as the reward, instead of what was recorded. */
  readonly reward?: string
  readonly least: number
  readonly margin: number
}

/** Trajectories read at once. */
const page = 200

/** `ratchet export`: one JSON object a line. What was left out is counted on standard error. */
export function exportCommand(flags: ExportFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const out = flags.out === undefined ? standardOutput() : await newFile(flags.out)
    try {
      const told = await exportRows(store, flags, (row) => out.write(row))
      await out.end()
      tellExport(told.written, told.skipped, flags)
    } catch (error) {
      await out.abandon()
      throw error
    }
  })
}

async function exportRows(store: Store, flags: ExportFlags, put: (row: unknown) => Promise<void>) {
  let written = 0
  const skipped: Record<string, number> = {}
  const write = async (row: unknown) => {
    written++
    await put(row)
  }
  const writeRows = async ({ rows, skipped: some }: Rows<unknown>) => {
    for (const row of rows) await write(row)
    for (const [reason, count] of Object.entries(some)) skipped[reason] = (skipped[reason] ?? 0) + count
  }
  const held: Exported[] = []
  for await (const one of exported(store, filterOf(flags, Date.now()), flags.reward)) {
    switch (flags.format) {
      case 'atif':
        for (const document of toAtif(one)) await write(document)
        break
      case 'verifiers':
        await write(toVerifiers(one))
        break
      case 'sft':
        await writeRows(sftRows([one], flags.least))
        break
      case 'grpo':
        await writeRows(groupRows([one]))
        break
      case 'dpo':
        // Attempts at one task compete: none can be judged before all were seen.
        held.push(one)
        break
    }
  }
  if (flags.format === 'dpo') await writeRows(preferenceRows(held, flags.margin))
  return { written, skipped }
}

async function* exported(store: Store, filter: TrajectoryFilter, reward: string | undefined): AsyncGenerator<Exported> {
  for (let after: Exported['trajectory']['id'] | undefined; ; ) {
    const records = await store.trajectories.list({ ...filter, limit: page, ...(after === undefined ? {} : { after }) })
    for (const record of records) {
      const signals = await store.signals.of(record.trajectory.id)
      // A guard's veto stands, whatever anyone says (invariant 5).
      const asked = reward === undefined || record.reward.status === 'vetoed'
      yield { ...record, reward: asked ? record.reward : rewardedBy(record.trajectory, signals, reward), signals }
    }
    after = records.at(-1)?.trajectory.id
    if (records.length < page) return
  }
}

function tellExport(written: number, skipped: Readonly<Record<string, number>>, flags: ExportFlags): void {
  const left = Object.entries(skipped).filter(([, count]) => count > 0)
  const reasons = left.map(([reason, count]) => `${count} ${reason.replaceAll('-', ' ')}`).join(', ')
  const where = flags.out === undefined ? '' : ` to ${flags.out}`
  process.stderr.write(
    `${pc.green('✓')} ${written} rows${where}.${reasons === '' ? '' : pc.dim(` Left out: ${reasons}.`)}\n`,
  )
}

interface ImportFlags extends StoreFlags {
  readonly format: ImportFormat
  readonly tenant?: string
  readonly split: Split
}

/** `ratchet import FILE`: records of another system, one JSON object a line. They are held out until the user says otherwise. */
export async function importCommand(file: string, flags: ImportFlags): Promise<void> {
  const tenant = parseInput(Tenant, flags.tenant ?? defaultTenant, 'The tenant')
  // Before a store is made for what cannot be read.
  const handle = await openLines(file)
  try {
    await withStore(flags, 'create', async (store) => {
      const options: ImportOptions = { tenant, split: flags.split, now: Date.now() }
      const done = { imported: 0, known: 0 }
      let batch: Imported[] = []
      const flush = async () => {
        const before = await appendNew(store, batch)
        done.imported += batch.length - before
        done.known += before
        batch = []
      }
      for await (const { line, number } of linesOf(file, handle)) {
        try {
          batch.push(readRecord(line, flags.format, options))
        } catch (error) {
          await flush()
          throw badLine(error, file, number, done.imported + done.known)
        }
        if (batch.length === page) await flush()
      }
      await flush()
      tellImport(done, flags)
    })
  } finally {
    await handle.close().catch(() => {})
  }
}

/**
 * Adds the records that are not in yet: when they were imported is no part of what they are.
 * @returns how many were.
 */
async function appendNew(store: Store, batch: readonly Imported[]): Promise<number> {
  const records = batch.map((one) => ({ ...one, run: null }))
  try {
    await store.trajectories.append(records)
    return 0
  } catch (error) {
    if (!RatchetError.is(error) || error.code !== 'store/record-conflict') throw error
  }
  let known = 0
  for (const record of records) {
    const found = await store.trajectories.get(record.trajectory.id)
    if (found === null) await store.trajectories.append([record])
    else if (found.trajectory.task.split === record.trajectory.task.split) known++
    else throw importedBefore(record.trajectory, found.trajectory.task.split)
  }
  return known
}

function tellImport({ imported, known }: { readonly imported: number; readonly known: number }, flags: ImportFlags) {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ imported, known, split: flags.split })}\n`)
    return
  }
  const before = known === 0 ? '' : ` ${known} were in already.`
  process.stdout.write(`${pc.green('✓')} ${imported} trajectories imported, split ${flags.split}.${before}\n`)
  if (flags.split === 'holdout') {
    process.stdout.write(pc.dim('Nothing is learned from them; import with --split train to allow it.\n'))
  }
}

function readRecord(line: string, format: ImportFormat, options: ImportOptions): Imported {
  const value: unknown = JSON.parse(line)
  switch (format) {
    case 'atif':
      return fromAtif(parseInput(AtifTrajectory, value, 'The ATIF document'), options)
    case 'verifiers':
      return fromVerifiers(parseInput(VerifiersTrace, value, 'The trace'), options)
  }
}

function importedBefore({ id }: Imported['trajectory'], split: Split): InputError {
  return new InputError({
    code: 'input/imported-before',
    message: `The trajectory ${id} was imported before, as ${split}.`,
    hint: 'What it may serve is said once: import it into another store, or leave it as it is.',
  })
}

function badLine(error: unknown, file: string, line: number, imported: number): InputError {
  return new InputError({
    code: 'input/bad-record',
    message: `Line ${line} of ${file} cannot be imported: ${said((error as Error).message, 500)}`,
    hint: `The ${imported} records before it are in. Correct the line and run it again: what is in already is not imported twice.`,
    cause: error,
  })
}
