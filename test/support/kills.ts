import { z } from 'zod'

/**
 * Processes that a test kills at random moments on each database; others take a share of it. CI kills fewer, and at other
 * moments each time.
 */
export const kills = z.coerce.number().int().min(5).default(25).parse(process.env['RATCHET_TEST_KILLS'])
