import type { Writable } from 'node:stream'
import type { DestinationStream } from 'pino'
import pc from 'picocolors'
import { z } from 'zod'
import { said } from '../trajectory/said.ts'
import { lengthOf } from '../when.ts'

const optionalText = z.string().optional().catch(undefined)

/** What a line for people takes from a line of the log. */
const Line = z.object({
  level: z.number(),
  time: z.number(),
  msg: z.string().catch(''),
  err: z.object({ message: z.string(), code: optionalText, hint: optionalText }).optional(),
  operation: z.string().optional(),
  model: z.string().catch(''),
  status: z.number().catch(0),
  ms: z.number().catch(0),
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  trajectory: z.string().optional(),
  failure: z.string().optional(),
})

/** The gateway's log as lines for people, among the others that `ratchet serve` prints. */
export function humanLog(output: Pick<Writable, 'write'>): DestinationStream {
  return {
    write(json) {
      output.write(`${lineOf(json) ?? json.trimEnd()}\n`)
    },
  }
}

const label = (name: string) => pc.dim(name.padEnd(10))
const warning = 40

function lineOf(json: string): string | null {
  const read = Line.safeParse(parsed(json))
  if (!read.success) return null
  const { level, msg, err, operation, model, status, ms, inputTokens, outputTokens, trajectory, failure } = read.data
  if (operation === undefined) {
    const told = [said(msg, 200), ...(err ? [withHint(err)] : [])]
    const line = told.filter((text) => text !== '').join(': ')
    return `${label('gateway')}${level >= warning ? pc.yellow(line) : line}`
  }
  const went = status < 400 && failure === undefined
  const facts = [
    said(model, 60),
    went ? pc.green(String(status)) : pc.red(`${status}${failure === undefined ? '' : ` ${said(failure, 60)}`}`),
    lengthOf(ms),
    ...(inputTokens === undefined ? [] : [`${inputTokens} tokens in, ${outputTokens ?? 0} out`]),
    ...(trajectory === undefined ? [] : [pc.dim(said(trajectory, 60))]),
  ]
  return `${label('call')}${facts.join(' · ')}`
}

/** What happened, what to do, and the code, as far as the error has them. */
const withHint = ({ message, hint, code }: NonNullable<z.infer<typeof Line>['err']>): string =>
  [said(message, 300), ...(hint ? [said(hint, 300)] : []), ...(code ? [`[${said(code, 60)}]`] : [])].join(' ')

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}
