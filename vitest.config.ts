import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { postgresHere } from './test/support/postgres-here.ts'

/** The fast suite: behaviour, seconds, no other processes. Slow, cross-process and documentation tests: vitest.slow.config.ts. */
export default defineConfig(async () => {
  const postgres = await postgresHere()
  return {
    test: {
      include: [
        'src/**/*.test.ts',
        'test/architecture.test.ts',
        'test/online-report.test.ts',
        'test/trainer-versions.test.ts',
      ],
      exclude: [...configDefaults.exclude, ...(postgres ? [] : ['src/store/postgres-*.test.ts'])],
      env: { RATCHET_POSTGRES: postgres ? 'here' : 'absent' },
      testTimeout: 30_000,
      pool: 'forks' as const,
      maxWorkers: availableParallelism(),
    },
  }
})
