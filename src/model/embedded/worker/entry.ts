import { parentPort } from 'node:worker_threads'
import { present } from '../../../errors/index.ts'
import { EngineHost } from './engine-host.ts'
import type { ToWorker } from './protocol.ts'

/* The file that a worker thread runs. */

const port = present(parentPort, 'the port of the worker thread')
const host = new EngineHost((message, transfer) => port.postMessage(message, transfer))
port.on('message', (message: ToWorker) => host.receive(message))
