import { defineConfig } from 'vitest/config'

/** They measure time or memory, wait for clocks, or take both cores for minutes: nothing may run beside them. */
const alone = [
  'test/arms-alike.test.ts',
  'test/gateway-abuse.test.ts',
  'test/gateway-clock.test.ts',
  'test/gateway-kill.test.ts',
  'test/gateway-stall.test.ts',
  'test/gateway-stall-large.test.ts',
  'test/online-example.test.ts',
  'test/store-threads.test.ts',
  'test/training-memory.test.ts',
]
/** The fast suite runs these. */
const fast = ['test/architecture.test.ts', 'test/online-report.test.ts', 'test/trainer-versions.test.ts']

const shared = { testTimeout: 600_000, hookTimeout: 600_000, pool: 'forks' as const }

/** Cross-process, fault, documentation and end-to-end tests: two files at a time, then one by one those that measure. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...fast, ...alone],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...shared, name: 'alone', include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
})
