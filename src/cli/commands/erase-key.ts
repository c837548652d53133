import { join } from 'node:path'
import pc from 'picocolors'
import { eraseOwner, type OwnerRemoval } from '../../trainer/index.ts'
import { confirmed } from '../confirm.ts'
import { visible } from '../../core/index.ts'
import { folderOf, type StoreFlags } from '../with-store.ts'

interface EraseKeyFlags extends StoreFlags {
  readonly folder?: string
  readonly yes?: boolean
}

/** `ratchet erase --key ID`: everything of a key goes from the trainer's folder, after its counts were shown. */
export async function eraseKeyCommand(flags: EraseKeyFlags, key: string): Promise<void> {
  const folder = flags.folder ?? join(folderOf(flags), 'trainer')
  const planned = await eraseOwner(folder, key, { dryRun: true })
  if (!flags.json) process.stdout.write(`${countsOf(planned)} of the key ${visible(key)} in ${folder}.\n`)
  const none = Object.values(planned).every((count) => count === 0)
  if (!none && !(await confirmed('Remove them? This cannot be undone.', flags.yes))) return
  const removed = await eraseOwner(folder, key, { dryRun: false })
  if (flags.json) process.stdout.write(`${JSON.stringify(removed)}\n`)
  else if (!none) {
    const stays = 'Not undone: checkpoints that were downloaded, and weights learned from them elsewhere.'
    process.stdout.write(`${pc.green('✓')} Removed ${countsOf(removed)}.\n  ${pc.dim(stays)}\n`)
  }
}

const countsOf = (removal: OwnerRemoval): string =>
  Object.entries(removal)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
