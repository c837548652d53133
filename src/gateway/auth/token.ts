import { randomInt, timingSafeEqual } from 'node:crypto'
import { ApiKey, KeyId, type KeyLimits, type Scope, sha256, type Tenant } from '../../core/index.ts'

/**
 * A client's key as it travels: `rk_<id>_<secret>`. The id is not secret: it finds the record. Of the secret only a hash
 * is kept. Both are letters and digits drawn by the operating system's generator.
 */

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 95 bits: no two keys meet. */
const idLength = 16
/** 256 bits: nobody guesses it, so a plain hash of it needs no salt and no stretching. */
const secretLength = 43

const pattern = /^rk_([0-9A-Za-z]{12,64})_([0-9A-Za-z]{32,128})$/

/** What looks like a key of ours, also a mangled one: never passed on to an upstream, whatever else it may be. */
const lookalike = /(?<![\w-])rk_[0-9A-Za-z]/

/** What a token says of itself, before anything is known of it. */
export interface ParsedToken {
  readonly id: KeyId
  readonly secret: string
}

/** Reads a token; `null` for what is none. */
export function parseToken(text: string): ParsedToken | null {
  const [, id, secret] = pattern.exec(text) ?? []
  return id === undefined || secret === undefined ? null : { id: KeyId.parse(id), secret }
}

/** Whether there is something in a header's value that was meant as a key of ours. */
export function mentionsToken(text: string): boolean {
  return lookalike.test(text)
}

/** What a new key is to be. What is left out is `null`, or as free as its maker. */
export interface NewKeyOptions {
  /** For people. */
  readonly name: string
  readonly tenant: Tenant
  readonly scopes: readonly Scope[]
  /** For the key of one session. */
  readonly session?: string | null
  /** The key that makes it. */
  readonly parent?: KeyId
  readonly agent?: string | null
  readonly subject?: string | null
  /** False forbids learning from what it sends; true by default. */
  readonly train?: boolean
  readonly limits?: { readonly [L in keyof KeyLimits]?: KeyLimits[L] | undefined }
  /** Milliseconds since the epoch; `null` or left out: never. */
  readonly expiresAt?: number | null
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * Makes a key. The token is all there is of the secret: who loses it needs another key.
 * @returns the record to store, and the token to hand out.
 * @throws ZodError for options that no key can have.
 */
export function newKey(options: NewKeyOptions): { readonly key: ApiKey; readonly token: string } {
  const id = draw(idLength)
  const secret = draw(secretLength)
  const { requestsPerMinute = null, concurrency = null, bodyBytes = null } = options.limits ?? {}
  const key = ApiKey.parse({
    id,
    tenant: options.tenant,
    name: options.name,
    secretHash: sha256(secret),
    scopes: [...new Set(options.scopes)],
    session: options.session ?? null,
    ...(options.parent !== undefined && { parent: options.parent }),
    agent: options.agent ?? null,
    subject: options.subject ?? null,
    train: options.train ?? true,
    limits: { requestsPerMinute, concurrency, bodyBytes },
    createdAt: options.now,
    expiresAt: options.expiresAt ?? null,
    revokedAt: null,
  })
  return { key, token: `rk_${id}_${secret}` }
}

/** A name for a session whose client has none. */
export function newSessionName(): string {
  return `session-${draw(20)}`
}

/**
 * Whether the secret is the key's, in a time that tells neither how much of it is right nor whether there is such a key.
 * @param key `null` where no key has the id.
 */
export function isSecretOf(key: ApiKey | null, secret: string): key is ApiKey {
  const given = Buffer.from(sha256(secret), 'hex')
  const kept = Buffer.from(key?.secretHash ?? nobody, 'hex')
  return timingSafeEqual(given, kept) && key !== null
}

/** Compared with where there is no key: the hash of nothing that is a secret. */
const nobody = sha256('')

function draw(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
