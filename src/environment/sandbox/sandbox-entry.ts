import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../errors/index.ts'
import { evaluate } from './evaluate.ts'
import { SandboxRequest } from './outcome.ts'

const port = present(parentPort, 'the port of a worker thread')
port.postMessage(await evaluate(SandboxRequest.parse(workerData)))
