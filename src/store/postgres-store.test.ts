import { afterAll, beforeAll, beforeEach } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { openStore } from './open-store.ts'
import { storeConformance } from './store.conformance.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())
beforeEach(() => database.clear())

storeConformance('PostgreSQL', () => openStore({ url: database.url }))
