import { parentPort } from 'node:worker_threads'
import { present } from '../errors/index.ts'
import { openStore } from './open-store.ts'
import { hostStore } from './sqlite-thread-host.ts'

hostStore(present(parentPort, 'the port of a worker thread'), (store) => openStore({ ...store, thread: 'main' }))
