import { type DestinationStream, destination, type LevelWithSilent, type Logger, pino } from 'pino'
import { z } from 'zod'
import { parseInput } from '../../core/index.ts'

const Level = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])

/** What is never written, wherever it turns up: nothing should log these, and a mistake must not. */
const secret = [
  'authorization',
  'cookie',
  'token',
  'secret',
  'secretHash',
  'apiKey',
  'messages',
  'content',
  'body',
  'request',
  'session',
  'subject',
  'user',
]
const secretHeaders = ['ratchet-key', 'api-key', 'x-api-key']

const paths = [
  ...secret.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
  ...secretHeaders.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]),
]

/** How the gateway logs. */
export interface LoggerOptions {
  /** From `RATCHET_LOG_LEVEL` by default, else `info`. */
  readonly level?: string
  /** Standard output by default; lines are written without waiting. */
  readonly destination?: DestinationStream
}

/**
 * The gateway's log: JSON lines.
 * @throws InputError for a level that there is not.
 */
export function gatewayLogger(options: LoggerOptions = {}): Logger {
  const named = options.level ?? process.env['RATCHET_LOG_LEVEL'] ?? 'info'
  const level: LevelWithSilent = parseInput(Level, named, 'The log level (RATCHET_LOG_LEVEL)')
  return pino(
    { name: 'ratchet', level, redact: { paths, censor: '[redacted]' } },
    options.destination ?? destination({ dest: 1, sync: false }),
  )
}
