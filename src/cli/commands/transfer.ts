import pc from 'picocolors'
import {
  AtifTrajectory,
  fromAtif,
  fromVerifiers,
  type Imported,
  type ImportOptions,
  VerifiersTrace,
} from '../../codec/index.ts'
import { defaultTenant, parseInput, type RecordedTrajectory, type Split, type Store, Tenant } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { said } from '../trajectory/said.ts'
import { type ExportOptions, exportRows } from '../transfer/export-rows.ts'
import type { ImportFormat } from '../transfer/formats.ts'
import { linesOf, openLines } from '../transfer/lines-of.ts'
import { newFile, standardOutput } from '../transfer/row-writer.ts'
import { type StoreFlags, withStore } from '../with-store.ts'
import { type FilterFlags, filterOf } from './trajectories.ts'

interface ExportFlags extends FilterFlags, ExportOptions {
  readonly out?: string
}

/** Records added at once. */
const page = 200

/** `ratchet export`: one JSON object a line. What was left out is counted on standard error. */
export function exportCommand(flags: ExportFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const out = flags.out === undefined ? standardOutput() : await newFile(flags.out)
    try {
      const told = await exportRows(store, filterOf(flags, Date.now()), flags, (row) => out.write(row))
      await out.end()
      tellExport(told.written, told.skipped, flags)
    } catch (error) {
      await out.abandon()
      throw error
    }
  })
}

/** Reasons whose names alone say too little. */
const reasonWords: Readonly<Record<string, string>> = {
  broken: 'broken or cut off',
  below: 'below --least',
  'no-reward': 'without a reward (--reward NAME takes signals for one)',
}

function tellExport(written: number, skipped: Readonly<Record<string, number>>, flags: ExportFlags): void {
  const left = Object.entries(skipped).filter(([, count]) => count > 0)
  const reasons = left
    .map(([reason, count]) => `${count} ${reasonWords[reason] ?? reason.replaceAll('-', ' ')}`)
    .join(', ')
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
 * @returns how many were in.
 * @throws InputError when one is in, for another split; then none is added.
 */
async function appendNew(store: Store, batch: readonly Imported[]): Promise<number> {
  const fresh: RecordedTrajectory[] = []
  for (const one of batch) {
    const found = await store.trajectories.get(one.trajectory.id)
    if (found === null) fresh.push({ ...one, run: null })
    else if (found.trajectory.task.split !== one.trajectory.task.split) {
      throw importedBefore(one.trajectory, found.trajectory.task.split)
    }
  }
  await store.trajectories.append(fresh)
  return batch.length - fresh.length
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
