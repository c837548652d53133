import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileBlobs, lockForWriting } from '../store/index.ts'
import { Journal } from './journal/journal.ts'
import { shortened } from './journal/shortened.ts'
import { TrainerState } from './journal/state.ts'

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
 * Removes everything of a key from a trainer server's folder: its journal is written anew without it, and weights that no other
 * key's work names are deleted. Counts it, and with `dryRun` does no more.
 * @param owner id of the key; `open` is whoever was let in without one.
 * @throws LockedStoreError while a server has the folder; InputError for a journal that cannot be read.
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
      const blobs = blobsOf(state, owner)
      const removed = takenOut(state, owner)
      if (dryRun || Object.values(removed).every((count) => count === 0)) return removed
      await journal.rewrite(() => shortened(state))
      const storage = fileBlobs(join(folder, 'blobs'))
      for (const blob of blobs) if (!state.names(blob)) await storage.remove(blob)
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

const blobsOf = (state: TrainerState, owner: string) => [
  ...[...state.models.values()].flatMap(({ model, snapshot }) => (model.owner === owner && snapshot ? [snapshot] : [])),
  ...[...state.samplers.values()].flatMap((one) => (one.owner === owner && one.weights ? [one.weights.blob] : [])),
  ...[...state.checkpoints.values()].flatMap((one) =>
    one.owner === owner ? [one.weights, ...(one.state === null ? [] : [one.state])] : [],
  ),
]
