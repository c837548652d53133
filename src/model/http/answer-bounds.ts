import { type JsonBounds, maxJsonDepth, maxJsonKeys } from '../../core/index.ts'

/** What one answer, or one event of a stream, may hold: the token ids of a prompt of a million tokens do. */
export const answerBounds: JsonBounds = { depth: maxJsonDepth, values: 1_200_000, keys: maxJsonKeys }
