import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { postgresHere } from './test/support/postgres-here.ts'

/** Rooms that hold no state of the process: their files share what a worker has loaded, which takes most of their time. */
const stateless = [
  'agent',
  'codec',
  'core',
  'credit',
  'environment',
  'errors',
  'gate',
  'optimize',
  'release',
  'report',
  'reward',
].map((room) => `src/${room}/**/*.test.ts`)
/** They share among themselves: what their servers leave in a worker makes long computations of others slow. */
const served = ['cli', 'gateway'].map((room) => `src/${room}/**/*.test.ts`)

const shared = { testTimeout: 30_000, pool: 'forks' as const, maxWorkers: availableParallelism() }

/** The fast suite: behaviour, seconds, no other processes. Slow, cross-process and documentation tests: vitest.slow.config.ts. */
export default defineConfig(async () => {
  const postgres = await postgresHere()
  const env = { RATCHET_POSTGRES: postgres ? 'here' : 'absent' }
  return {
    test: {
      projects: [
        {
          test: { ...shared, name: 'stateless', env, include: stateless, isolate: false },
        },
        {
          test: { ...shared, name: 'served', env, include: served, isolate: false },
        },
        {
          test: {
            ...shared,
            name: 'isolated',
            env,
            include: [
              'src/**/*.test.ts',
              'test/architecture.test.ts',
              'test/online-report.test.ts',
              'test/trainer-versions.test.ts',
            ],
            exclude: [
              ...configDefaults.exclude,
              ...stateless,
              ...served,
              ...(postgres ? [] : ['src/store/postgres-*.test.ts']),
            ],
          },
        },
      ],
    },
  }
})
