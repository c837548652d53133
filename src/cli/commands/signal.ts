import pc from 'picocolors'
import { z } from 'zod'
import { InputError } from '../../errors/index.ts'
import { said } from '../trajectory/said.ts'
import { moment } from '../when.ts'

/** Where `ratchet serve` listens unless it is told otherwise. */
export const defaultGatewayUrl = 'http://127.0.0.1:8787'

interface SignalFlags {
  readonly url: string
  readonly key?: string
  readonly session?: string
  readonly response?: string
  readonly trajectory?: string
  readonly node?: string
  readonly source?: string
  readonly by?: string
  readonly at?: string
  readonly json?: boolean
}

/**
 * `ratchet signal NAME VALUE`: tells the running gateway how an episode went. The value is read as JSON where it is a
 * number, a boolean or an object, and as text otherwise.
 */
export async function signalCommand(name: string, value: string, flags: SignalFlags): Promise<void> {
  const { trajectory, session, response, node, source, by, at } = flags
  const body = {
    ...(trajectory === undefined ? {} : { trajectory }),
    ...(session === undefined ? {} : { session }),
    ...(response === undefined ? {} : { response }),
    ...(node === undefined ? {} : { node }),
    name,
    value: valueOf(value),
    ...(source === undefined ? {} : { source }),
    ...(by === undefined ? {} : { reporter: by }),
    ...(at === undefined ? {} : { at: moment(at, Date.now()) }),
  }
  const key = flags.key ?? process.env.RATCHET_API_KEY
  const gateway = flags.url.replace(/\/+$/, '')
  const answer = await post(`${gateway}/ratchet/signals`, body, key)
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(answer)}\n`)
    return
  }
  process.stdout.write(`${pc.green('✓')} ${said(name, 60)} = ${said(value, 100)} is on record.\n`)
  if (session !== undefined && (await isUnknown(`${gateway}/ratchet/trajectories`, session, key))) {
    const waits = `No episode of the session "${said(session, 60)}" is recorded yet: it waits for one.`
    process.stdout.write(`  ${pc.yellow(waits)}\n`)
  }
}

/** Whether the gateway says that it knows of no such session; a key that may not read is told nothing. */
async function isUnknown(url: string, session: string, key: string | undefined): Promise<boolean> {
  const headers = key ? { authorization: `Bearer ${key}` } : {}
  try {
    const response = await fetch(`${url}?session=${encodeURIComponent(session)}&limit=1`, {
      headers,
      signal: AbortSignal.timeout(5_000),
    })
    const listed = response.ok ? Listed.safeParse(await response.json()) : null
    return listed?.success === true && listed.data.trajectories.length === 0
  } catch {
    return false
  }
}

const Listed = z.object({ trajectories: z.array(z.unknown()) })

function valueOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value === null || Array.isArray(value) ? text : value
  } catch {
    return text
  }
}

/** `fetch` says only that it failed, and keeps why as the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

async function post(url: string, body: unknown, key: string | undefined): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    })
  } catch (error) {
    throw new InputError({
      code: 'input/gateway-unreachable',
      message: `The gateway does not answer at ${url}: ${said(reasonOf(error), 300)}.`,
      hint: 'Start it with `ratchet serve`, or name its address with --url.',
      cause: error,
    })
  }
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const { message, code } = (answer as { error?: { message?: string; code?: string } } | null)?.error ?? {}
  throw new InputError({
    code: 'input/signal-refused',
    message: `The gateway refused it (${response.status}${code ? `, ${said(code, 60)}` : ''}): ${said(message ?? '', 500)}`,
    hint:
      response.status === 401
        ? 'Give a key with --key or RATCHET_API_KEY.'
        : 'Correct what is named and send it again.',
  })
}
