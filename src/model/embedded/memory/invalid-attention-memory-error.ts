import { InputError } from '../../../errors/index.ts'

/** A memory in attention, or settings of one, that cannot be used. */
export class InvalidAttentionMemoryError extends InputError {
  constructor(problem: string) {
    super({
      code: 'model/invalid-attention-memory',
      message: `This memory in attention cannot be used: ${problem}.`,
      hint: 'A memory has a positive capacity; its layer is one of the model, from 0; its entries come from `collect` of the same model and layer.',
    })
  }
}
