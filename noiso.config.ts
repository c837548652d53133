import { configDefaults, defineConfig } from 'vitest/config'
export default defineConfig({ root: '/work/main', test: { testTimeout: 120000, pool: 'forks', maxWorkers: 1, isolate: process.env.ISO === '1', env: { RATCHET_POSTGRES: 'here' }, include: ['src/**/*.test.ts'], exclude: configDefaults.exclude } })
