/**
 * Processes that a test kills at random moments on each database; others take a share of it. CI kills fewer, and at other
 * moments each time. A release is held to 100.
 */
export const kills = Number(process.env['RATCHET_TEST_KILLS'] ?? 25)
