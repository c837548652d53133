import { parentPort } from 'node:worker_threads'
import { present } from '../errors/index.ts'
import { openSqliteReader, openSqliteWriter } from './sqlite-store.ts'
import { hostStore } from './sqlite-thread-host.ts'

hostStore(present(parentPort, 'the port of a worker thread'), ({ path, readonly }) =>
  readonly ? openSqliteReader(path) : openSqliteWriter(path),
)
