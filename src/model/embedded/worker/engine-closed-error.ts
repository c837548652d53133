import { RatchetError } from '../../../errors/index.ts'

/** The engine was asked for something after, or while, it was closed. */
export class EngineClosedError extends RatchetError {
  constructor() {
    super({
      code: 'model/engine-closed',
      message: 'The embedded engine is closed.',
      hint: 'Await what is under way before closing the engine, or open it again.',
    })
  }
}
