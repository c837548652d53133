import { resolve } from 'node:path'
import pc from 'picocolors'
import { defaultTenant, parseInput, type Removal, type Store, Tenant } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { eraseSubject } from '../../gateway/index.ts'
import { confirmed } from '../confirm.ts'
import { moment } from '../when.ts'
import { type StoreFlags, withStore } from '../with-store.ts'
import { eraseKeyCommand } from './erase-key.ts'
import { filterOf, type FilterFlags } from './trajectories.ts'

/** `ratchet backup FOLDER`: a copy of the store, while the gateway runs. */
export function backupCommand(folder: string, flags: StoreFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    await store.backup(resolve(folder))
    process.stdout.write(
      flags.json
        ? `${JSON.stringify({ folder: resolve(folder) })}\n`
        : `${pc.green('✓')} Copied to ${folder}. It is a store of its own: npx ratchet trajectories --store ${folder}\n`,
    )
  })
}

interface RemovalFlags extends FilterFlags {
  readonly yes?: boolean
}

/** `ratchet prune --before WHEN`: old traffic goes, after its counts were shown; imports and rollouts stay. */
export async function pruneCommand(flags: RemovalFlags): Promise<void> {
  if (flags.before === undefined) {
    throw new InputError({
      code: 'input/prune-what',
      message: 'Prune needs to know what is old.',
      hint: 'Say it with --before: 90d for what changed last more than 90 days ago, or a date.',
    })
  }
  const before = moment(flags.before, Date.now())
  if (before > Date.now()) {
    throw new InputError({
      code: 'input/moment',
      message: `"${flags.before}" is in the future.`,
      hint: 'Give a moment in the past: everything that changed last before it goes.',
    })
  }
  await remove(
    flags,
    ({ trajectories }, options) =>
      trajectories.remove({ ...filterOf(flags, Date.now()), origin: 'traffic', before }, options),
    `that changed last before ${new Date(before).toISOString()}`,
  )
}

interface EraseFlags extends RemovalFlags {
  readonly subject?: string
  readonly key?: string
  readonly folder?: string
}

/**
 * `ratchet erase --subject NAME`: a person's data goes, in one tenant, and what cannot be undone is told. Where a redaction
 * rule matched the name, it goes by what stands for it. `ratchet erase --key ID`: what a key trained goes.
 */
export function eraseCommand(flags: EraseFlags): Promise<void> {
  const { subject, key } = flags
  if (subject !== undefined && key === undefined) return eraseSubjectCommand(flags, subject)
  if (key !== undefined && subject === undefined) return eraseKeyCommand(flags, key)
  throw new InputError({
    code: 'input/erase-whom',
    message: "Erase needs to know whose data go: a person's, or a key's in the trainer.",
    hint: 'Give --subject NAME or --key ID, one of them. `npx ratchet keys list` shows the ids.',
  })
}

function eraseSubjectCommand(flags: EraseFlags, subject: string): Promise<void> {
  const tenant = parseInput(Tenant, flags.tenant ?? defaultTenant, 'The tenant')
  return remove(
    flags,
    ({ trajectories }, options) => eraseSubject(trajectories, tenant, subject, options),
    `of the subject "${subject}" in the tenant ${tenant}; what was shared with others goes as a whole`,
  )
}

async function remove(
  flags: RemovalFlags,
  removal: (store: Store, options: { readonly dryRun: boolean }) => Promise<Removal>,
  which: string,
): Promise<void> {
  await withStore(flags, 'write', async (store) => {
    const planned = await removal(store, { dryRun: true })
    if (!flags.json) process.stdout.write(`${countsOf(planned)} ${which}.\n`)
    if ([planned.trajectories, planned.signals, planned.derived, planned.keys].every((count) => count === 0)) {
      if (flags.json) process.stdout.write(`${JSON.stringify(planned)}\n`)
      return
    }
    if (!(await confirmed('Remove them? This cannot be undone.', flags.yes))) return
    const removed = await removal(store, { dryRun: false })
    if (flags.json) process.stdout.write(`${JSON.stringify(removed)}\n`)
    else process.stdout.write(`${pc.green('✓')} Removed ${countsOf(removed)}.\n${whatStays(removed)}`)
  })
}

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

function countsOf({ trajectories, signals, derived, keys }: Removal): string {
  return [
    plural(trajectories, 'trajectory', 'trajectories'),
    plural(signals, 'signal', 'signals'),
    plural(derived, 'derived record', 'derived records'),
    ...(keys === 0 ? [] : [plural(keys, "session's key", "sessions' keys")]),
  ].join(', ')
}

const inFiles: Readonly<Record<Removal['remains'], readonly string[]>> = {
  nowhere: [],
  log: [
    "Not undone: somebody reads the store, so its log holds the old pages. Do the same again later, or close the store's readers and the gateway.",
  ],
  'dead-rows': ['Not undone: PostgreSQL keeps the bytes of removed rows in its files. `vacuum full` rewrites them.'],
}

function whatStays({ versions, remains }: Removal): string {
  const lines = [
    ...inFiles[remains],
    'Not undone: copies that left this store (exports, backups, logs of others) hold what they held.',
    ...(versions.length === 0
      ? []
      : [
          `Not undone: these versions were learned from it and cannot unlearn: ${versions.join(', ')}. Roll them back, or learn anew without it.`,
        ]),
  ]
  return `${lines.map((line) => `  ${pc.dim(line)}`).join('\n')}\n`
}
