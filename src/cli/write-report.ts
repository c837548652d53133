import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunId } from '../core/index.ts'
import { InputError } from '../errors/index.ts'
import { reproduce } from './reproduce.ts'
import { renderReport, type ReportStore, reportOf, type RunReport } from '../report/index.ts'

/** Where a run's report is written unless something else is asked for. The folder is made where the store is elsewhere. */
export async function reportPath(folder: string, run: RunId): Promise<string> {
  await mkdir(folder, { recursive: true })
  return join(folder, `report-${run}.html`)
}

/**
 * Writes a run's report as one HTML file.
 * @param storeArgument how the commands of the report name the store.
 * @throws InputError when the file cannot be written.
 */
export async function writeReport(
  store: ReportStore,
  run: RunId,
  path: string,
  storeArgument: string,
): Promise<RunReport> {
  const report = await reportOf(store, run, { storeArgument, reproduce })
  try {
    await writeFile(path, renderReport(report))
  } catch (cause) {
    throw new InputError({
      code: 'input/unwritable-report',
      message: `The report ${path} cannot be written: ${(cause as Error).message}.`,
      hint: 'Name a file in a folder that is there and may be written, with: ratchet report --out FILE',
      cause,
    })
  }
  return report
}
