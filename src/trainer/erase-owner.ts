import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lockForWriting } from '../store/index.ts'
import { Journal } from './journal/journal.ts'
import { shortened } from './journal/shortened.ts'
import { TrainerState } from './journal/state.ts'
import { isShared, sweepFolder } from './sweep.ts'

/** How much of a key's a trainer server's folder holds. */
export interface OwnerRemoval {
  readonly sessions: number
  readonly models: number
  readonly samplers: number
  readonly checkpoints: number
  /** With their data, and with what came of them. */
  readonly requests: number
}

const nothing: OwnerRemoval = { sessions: 0, models: 0, samplers: 0, checkpoints: 0, requests: 0 }

/**
 * Removes everything of a key from a trainer server's folder: its journal is written anew without it, and weights that nothing
 * names then are deleted, also those of models that ended before. Counts it, and with `dryRun` does no more. Where the key has
 * nothing, nothing is touched.
 * @param owner id of the key; `open` is whoever was let in without one.
 * @throws LockedStoreError while a server has the folder; InputError for a journal, or another file beside it, that cannot be
 * read. Nothing was removed then.
 */
export async function eraseOwner(
  folder: string,
  owner: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<OwnerRemoval> {
  const path = join(folder, 'journal.jsonl')
  if (!existsSync(path)) return nothing
  const lock = await lockForWriting(join(folder, 'trainer'))
  try {
    const state = new TrainerState()
    const journal = await Journal.open(path, (event) => state.apply(event))
    try {
      const removed = takenOut(state, owner)
      // A key that has nothing here may be mistyped.
      if (dryRun || Object.values(removed).every((count) => count === 0)) return removed
      const shared = await isShared(folder)
      await journal.rewrite(() => shortened(state))
      // Also what an earlier server left behind: nobody knows whose it was.
      if (!shared) await sweepFolder(folder, state)
      return removed
    } finally {
      await journal.close()
    }
  } finally {
    lock.release()
  }
}

function takenOut(state: TrainerState, owner: string): OwnerRemoval {
  const from = <T>(all: Map<string, T>, ownerOf: (one: T) => string): number => {
    const own = [...all].filter(([, one]) => ownerOf(one) === owner)
    for (const [id] of own) all.delete(id)
    return own.length
  }
  return {
    sessions: from(state.sessions, (one) => one.owner),
    models: from(state.models, ({ model }) => model.owner),
    samplers: from(state.samplers, (one) => one.owner),
    checkpoints: from(state.checkpoints, (one) => one.owner),
    requests: from(state.requests, ({ request }) => request.owner),
  }
}
