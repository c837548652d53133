import pc from 'picocolors'
import { z } from 'zod'
import { RatchetError } from '../../errors/index.ts'
import { askGateway, type AskedGateway } from '../gateway/ask-gateway.ts'
import { type GatewayFlags, gatewayOf } from '../gateway/gateway-url.ts'
import { said } from '../trajectory/said.ts'
import { moment } from '../when.ts'

interface SignalFlags extends GatewayFlags {
  readonly session?: string
  readonly response?: string
  readonly trajectory?: string
  readonly node?: string
  readonly source?: string
  readonly by?: string
  readonly at?: string
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
  const gateway = gatewayOf(flags)
  const answer = await askGateway(gateway, '/ratchet/signals', body)
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(answer)}\n`)
    return
  }
  process.stdout.write(`${pc.green('✓')} ${said(name, 60)} = ${said(value, 100)} is on record.\n`)
  if (session !== undefined && (await isUnknown(gateway, session))) {
    const waits = `No episode of the session "${said(session, 60)}" is recorded yet: it waits for one.`
    process.stdout.write(`  ${pc.yellow(waits)}\n`)
  }
}

/** Whether the gateway says that it knows of no such session; a key that may not read is told nothing. */
async function isUnknown(gateway: AskedGateway, session: string): Promise<boolean> {
  try {
    const answer = await askGateway(gateway, `/ratchet/trajectories?session=${encodeURIComponent(session)}&limit=1`)
    const listed = Listed.safeParse(answer)
    return listed.success && listed.data.trajectories.length === 0
  } catch (error) {
    if (RatchetError.is(error)) return false
    throw error
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
