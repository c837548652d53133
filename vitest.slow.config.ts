import { defineConfig } from 'vitest/config'

/** Cross-process, fault, documentation and end-to-end tests. Files run one after another: they measure and kill real processes. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/architecture.test.ts', 'test/online-report.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    pool: 'forks',
  },
})
