import { type DestinationStream, destination, type LevelWithSilent, type Logger, pino } from 'pino'
import { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import { secretNames, withoutSecrets } from './without-secrets.ts'

const Level = z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])

/** How the gateway logs. */
export interface LoggerOptions {
  /** From `RATCHET_LOG_LEVEL` by default, else `info`. */
  readonly level?: string
  /** Standard output by default; lines are written without waiting. */
  readonly destination?: DestinationStream
}

/**
 * The gateway's log: JSON lines, without credentials, content and people's names even where a mistake hands them over.
 * @throws InputError for a level that there is not.
 */
export function gatewayLogger(options: LoggerOptions = {}): Logger {
  const named = options.level ?? process.env['RATCHET_LOG_LEVEL'] ?? 'info'
  const level: LevelWithSilent = parseInput(Level, named, 'The log level (RATCHET_LOG_LEVEL)')
  return pino(
    {
      name: 'ratchet',
      level,
      formatters: { log: withoutSecrets },
      // For what a child logger is bound to, which no formatter sees.
      redact: { paths: secretNames.map((name) => `["${name}"]`), censor: '[redacted]' },
    },
    options.destination ?? destination({ dest: 1, sync: false }),
  )
}
