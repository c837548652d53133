export * from './errors/index.ts'
export { openMemoryStore, openStore, type StoreOptions } from './open-store.ts'
export { type StoreLocation, storeLocation } from './store-location.ts'
export { announceWriter, writerOf } from './writer-lock.ts'
