import { defineConfig } from 'vitest/config'

/** The fast suite: behaviour, seconds, no other processes. Slow, cross-process and documentation tests: vitest.slow.config.ts. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/architecture.test.ts'],
    testTimeout: 30_000,
    pool: 'forks',
  },
})
