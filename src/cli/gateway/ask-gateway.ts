import { z } from 'zod'
import { InputError } from '../../errors/index.ts'
import { said } from '../trajectory/said.ts'

/** Which gateway, and as whom. */
export interface AskedGateway {
  readonly url: string
  /** Its API key. Default: RATCHET_API_KEY. */
  readonly key?: string | undefined
}

/** How long a gateway may take to answer. */
const patienceMs = 30_000

/**
 * Asks a running gateway, and reads the JSON that it answers.
 * @param body posted, where there is one.
 * @throws InputError `input/gateway-unreachable` where none answers, `input/gateway-refused` with what it says.
 */
export async function askGateway({ url, key }: AskedGateway, path: string, body?: object): Promise<unknown> {
  const address = `${url.replace(/\/+$/, '')}${path}`
  const token = key ?? process.env.RATCHET_API_KEY
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) }
  let response: Response
  try {
    response = await fetch(address, {
      headers,
      signal: AbortSignal.timeout(patienceMs),
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  } catch (error) {
    throw new InputError({
      code: 'input/gateway-unreachable',
      message: `The gateway does not answer at ${address}: ${said(reasonOf(error), 300)}.`,
      hint: 'Start it with `ratchet serve`, or name its address with --url.',
      cause: error,
    })
  }
  const answer: unknown = await response.json().catch(() => null)
  if (response.ok) return answer
  const { error } = Refused.safeParse(answer).data ?? {}
  if (error === undefined) throw noGateway(address, response.status)
  throw refused(response.status, error)
}

/** `fetch` says only that it failed, and keeps why as the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

/** What a gateway says when it refuses; another program's answer has another form. */
const Refused = z.object({ error: z.object({ message: z.string(), code: z.string().nullish() }) })
type Refusal = z.infer<typeof Refused>['error']

const noGateway = (address: string, status: number): InputError =>
  new InputError({
    code: 'input/gateway-unreachable',
    message: `What answers at ${address} is no gateway of Ratchet: it says ${status}, and not why.`,
    hint: 'Start the gateway on a free port with `ratchet serve --port N`, or name its address with --url.',
  })

function refused(status: number, { message, code }: Refusal): InputError {
  const byKey = status === 401 || status === 403
  return new InputError({
    code: 'input/gateway-refused',
    message: `The gateway refused it (${status}${code ? `, ${said(code, 60)}` : ''}): ${said(message, 1_000)}`,
    hint: byKey
      ? 'Give a key with --key or RATCHET_API_KEY: a signal needs the scope signal, judging what was drawn the scope audit, and what changes what serves the scope admin. `ratchet keys create NAME --scopes admin` makes one.'
      : 'Nothing was changed by it: correct what is named, and try again.',
  })
}
