import type { TrafficRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { InvariantError } from '../errors/index.ts'

const notBuilt = (): never => {
  throw new InvariantError('not built yet')
}

export function trafficRepository(_: Access): TrafficRepository {
  return { append: notBuilt, savePending: notBuilt, recoverPending: notBuilt, turns: notBuilt, request: notBuilt }
}
