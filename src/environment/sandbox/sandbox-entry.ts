import { parentPort, workerData } from 'node:worker_threads'
import { evaluate } from './evaluate.ts'

const port = parentPort
if (port === null) throw new Error('this file is the beginning of a worker thread')
port.postMessage(await evaluate(workerData))
