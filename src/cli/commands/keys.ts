import pc from 'picocolors'
import { z } from 'zod'
import { ClientName, defaultTenant, KeyId, parseInput, Scope, Tenant } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { said } from '../trajectory/said.ts'
import { minuteOf } from '../when.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

interface CreateFlags extends StoreFlags {
  readonly tenant?: string
  readonly scopes?: string
  readonly agent?: string
  readonly train: boolean
  readonly days?: number
}

/** A century is for ever. */
const Days = z.number().positive().max(36_500)

/** `ratchet keys create NAME`: makes a key and shows its secret, once. */
export function createKeyCommand(name: string, flags: CreateFlags): Promise<void> {
  const tenant = parseInput(Tenant, flags.tenant ?? defaultTenant, 'The tenant')
  const label = parseInput(ClientName, name, 'The name')
  const agent = flags.agent === undefined ? null : parseInput(ClientName, flags.agent, 'The agent')
  const days = flags.days === undefined ? null : parseInput(Days, flags.days, 'The number of days')
  const scopes = (flags.scopes ?? 'infer,signal').split(',').map((scope) => scope.trim())
  return withStore(flags, 'create', async (store) => {
    // The gateway takes half a second to load.
    const { newKey } = await import('../../gateway/index.ts')
    const now = Date.now()
    const { key, token } = newKey({
      name: label,
      tenant,
      scopes: scopes.map((scope) => parseInput(Scope, scope, `The scope "${scope}"`)),
      agent,
      train: flags.train,
      expiresAt: days === null ? null : now + Math.round(days * 86_400_000),
      now,
    })
    await store.keys.put(key)
    if (flags.json) process.stdout.write(`${JSON.stringify({ id: key.id, tenant, scopes: key.scopes, token })}\n`)
    else {
      process.stdout.write(
        `${pc.green('✓')} ${said(name, 80)} may ${key.scopes.join(', ')} for the tenant ${tenant}.\n\n  ${pc.bold(token)}\n\n${pc.dim('It is shown this once: only its hash is kept. From now on the gateway asks for a key.')}\n`,
      )
    }
  })
}

/** Sessions have a key each. */
const mostWithSessions = 10_000

interface ListFlags extends StoreFlags {
  readonly tenant?: string
  readonly sessions?: boolean
}

/** `ratchet keys list`: keys, newest first, without secrets; those of sessions where they are asked for. */
export function listKeysCommand(flags: ListFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const tenant = flags.tenant === undefined ? {} : { tenant: parseInput(Tenant, flags.tenant, 'The tenant') }
    const keys = await store.keys.list({
      ...tenant,
      ...(flags.sessions ? { limit: mostWithSessions } : { sessions: false, limit: Number.MAX_SAFE_INTEGER }),
    })
    for (const { secretHash: _, ...key } of keys) {
      if (flags.json) process.stdout.write(`${JSON.stringify(key)}\n`)
      else {
        const state = key.revokedAt === null ? key.scopes.join(',') : pc.red(`revoked ${minuteOf(key.revokedAt)}`)
        const session = key.session === null ? '' : `  session ${said(key.session, 40)}`
        process.stdout.write(
          `${key.id}  ${minuteOf(key.createdAt)}  ${key.tenant}  ${said(key.name, 60)}  ${state}${session}\n`,
        )
      }
    }
    if (flags.sessions && keys.length === mostWithSessions) {
      process.stderr.write(`${pc.dim(`The ${mostWithSessions} newest; without --sessions, all others are listed.`)}\n`)
    }
    if (keys.length === 0 && !flags.json) {
      process.stdout.write(
        `${pc.dim('No keys: the gateway serves this machine only, without asking. Make one with: npx ratchet keys create NAME')}\n`,
      )
    }
  })
}

/** `ratchet keys revoke ID`: the key stops working, everywhere, within seconds. */
export function revokeKeyCommand(id: string, flags: StoreFlags): Promise<void> {
  return withStore(flags, 'write', async (store) => {
    if (await store.keys.revoke(parseInput(KeyId, id, 'The key id'), Date.now())) {
      process.stdout.write(
        flags.json ? `${JSON.stringify({ revoked: id })}\n` : `${pc.green('✓')} ${said(id, 80)} no longer works.\n`,
      )
      return
    }
    throw new InputError({
      code: 'input/unknown-key',
      message: `There is no key "${id}".`,
      hint: '`ratchet keys list` shows the ids; the secret itself is not one.',
    })
  })
}
