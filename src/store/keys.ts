import type { KeyRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { InvariantError } from '../errors/index.ts'

const notBuilt = (): never => {
  throw new InvariantError('not built yet')
}

export function keyRepository(_: Access): KeyRepository {
  return { put: notBuilt, get: notBuilt, list: notBuilt, revoke: notBuilt }
}
