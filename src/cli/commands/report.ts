import { type Run, RunId, type Store } from '../../core/index.ts'
import { UnknownRunError } from '../../report/index.ts'
import { folderOf, storeArgument, type StoreFlags, withStore } from '../with-store.ts'
import { reportPath, writeReport } from '../write-report.ts'

interface ReportFlags extends StoreFlags {
  /** The HTML file to write; by default beside the store. */
  readonly out?: string
}

/**
 * `ratchet report [RUN]`: the report of a run that completed, failed, was interrupted or is at work; by default of the
 * latest. The store is only read, so that a process that learns in it is not disturbed.
 */
export function reportCommand(run: string | undefined, flags: ReportFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const { id, status } = await find(store, run)
    const path = flags.out ?? (await reportPath(folderOf(flags), id))
    await writeReport(store, id, path, storeArgument(flags))
    process.stdout.write(`${flags.json ? JSON.stringify({ run: id, status, report: path }) : path}\n`)
  })
}

async function find({ runs }: Pick<Store, 'runs'>, name: string | undefined): Promise<Run> {
  const id = name === undefined ? null : RunId.safeParse(name)
  const [latest] = id === null ? await runs.list({ limit: 1 }) : []
  const run = id?.success ? await runs.get(id.data) : latest
  if (!run) throw new UnknownRunError(name ?? null)
  return run
}
