import { z } from 'zod'
import { ask, textOf } from './ask.ts'
import type { Checksum } from './checksum.ts'
import { notAModel, unusableAnswer } from './failures.ts'

/** A repository on a Hugging Face hub. */
export interface HubModel {
  readonly repository: string
  readonly revision: string
}

/** A hub, and what it is asked with. */
export interface Hub {
  readonly endpoint: URL
  readonly authorization: string | null
}

/** A file of a repository, at one commit. */
export interface HubFile {
  readonly path: string
  readonly bytes: number
  readonly checksum: Checksum
  readonly url: URL
}

/** The token is sent to the hub alone, never to where it redirects. @throws PullError when `HF_ENDPOINT` is no address. */
export function hubOf(env: NodeJS.ProcessEnv): Hub {
  const text = env['HF_ENDPOINT'] ?? 'https://huggingface.co'
  const token = env['HF_TOKEN']?.trim() ?? ''
  const endpoint = URL.canParse(text) ? new URL(text.endsWith('/') ? text : `${text}/`) : null
  if (endpoint === null || !/^https?:$/.test(endpoint.protocol))
    throw notAModel(
      'It',
      'HF_ENDPOINT is no http or https address',
      'Set HF_ENDPOINT to the address of a hub, or unset it.',
    )
  return { endpoint, authorization: token === '' ? null : `Bearer ${token}` }
}

const name = /^[\w-][\w.-]*\/[\w-][\w.-]*$/
const revisionPattern = /^\w[\w.-]{0,200}$/

/** `owner/name` or `owner/name@revision`; null for what is neither. */
export function hubModel(reference: string): HubModel | null {
  const [repository = '', revision = 'main', ...rest] = reference.split('@')
  if (rest.length > 0 || !name.test(repository) || !revisionPattern.test(revision)) return null
  return { repository, revision }
}

const maxAnswerBytes = 16 * 1024 * 1024
const Revision = z.looseObject({ sha: z.string().regex(/^[0-9a-f]{40}$/) })
const oid = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`))
const Tree = z.array(
  z.looseObject({
    type: z.string(),
    path: z.string(),
    size: z.int().nonnegative(),
    oid: z.string(),
    lfs: z.looseObject({ oid: oid(64), size: z.int().nonnegative() }).nullish(),
  }),
)

/**
 * The files of a repository, all of one commit, each with its checksum: SHA-256 where it is a large one, git's otherwise.
 * @throws PullError
 */
export async function hubFiles(
  hub: Hub,
  { repository, revision }: HubModel,
  signal?: AbortSignal,
): Promise<{ readonly commit: string; readonly files: readonly HubFile[] }> {
  const question = { authorization: hub.authorization, tokenVariable: 'HF_TOKEN', signal }
  const at = new URL(`api/models/${repository}/revision/${encodeURIComponent(revision)}`, hub.endpoint)
  const { sha } = parsed(at, Revision, await textOf(at, await ask(at, question), maxAnswerBytes))
  const tree = new URL(`api/models/${repository}/tree/${sha}?recursive=true`, hub.endpoint)
  const entries = parsed(tree, Tree, await textOf(tree, await ask(tree, question), maxAnswerBytes))
  const files = entries.filter(({ type }) => type === 'file')
  return {
    commit: sha,
    files: files.map(({ path, size, oid: blob, lfs }) => ({
      path,
      bytes: lfs?.size ?? size,
      checksum: lfs ? { algorithm: 'sha256', hex: lfs.oid } : { algorithm: 'git', hex: blob },
      url: new URL(`${repository}/resolve/${sha}/${path.split('/').map(encodeURIComponent).join('/')}`, hub.endpoint),
    })),
  }
}

function parsed<T>(url: URL, schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw unusableAnswer(url, "it is not the JSON of a hub's answer", cause)
  }
}

const ours = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'generation_config.json', 'chat_template.jinja']
const single = 'model.safetensors'
const index = 'model.safetensors.index.json'
const split = /-\d{5}-of-\d{5}\.gguf$/
const shard = /^model-\d{5}-of-\d{5}\.safetensors$/

/**
 * The files that make a model: the configuration, the tokenizer, the template, and the weights as safetensors; or the one
 * file that is asked for.
 * @throws PullError when they are not there, with what is.
 */
export function chosenFiles(reference: string, files: readonly HubFile[], file?: string): readonly HubFile[] {
  const ggufs = files.filter(({ path }) => path.endsWith('.gguf')).map(({ path }) => path)
  if (file !== undefined) {
    const found = files.filter(({ path }) => path === file && path.endsWith('.gguf'))
    if (found.length > 0 && !split.test(file)) return found
    const why = found.length > 0 ? `${file} is one of several parts` : `it holds no GGUF file ${file}`
    throw notAModel(reference, why, `Choose a whole one: ${listed(ggufs.filter((path) => !split.test(path)))}.`)
  }
  const has = (path: string) => files.some((other) => other.path === path)
  const weights = has(single)
    ? files.filter(({ path }) => path === single)
    : files.filter(({ path }) => has(index) && (path === index || shard.test(path)))
  const missing = ['config.json', 'tokenizer.json'].filter((path) => !has(path))
  if (weights.length > 0 && missing.length === 0)
    return [...files.filter(({ path }) => ours.includes(path)), ...weights]
  throw notAModel(
    reference,
    weights.length === 0 ? 'it holds no model.safetensors' : `it holds no ${missing.join(' and no ')}`,
    ggufs.length > 0
      ? `Choose one of its GGUF files with --file: ${listed(ggufs)}.`
      : 'Choose a repository with config.json, tokenizer.json and model.safetensors, or with GGUF files.',
  )
}

const listed = (paths: readonly string[]): string =>
  paths.length === 0 ? 'none' : paths.slice(0, 20).join(', ') + (paths.length > 20 ? ', …' : '')
