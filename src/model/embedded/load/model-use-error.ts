import { InputError } from '../../../errors/index.ts'
import { type ModelUse, packagedNames } from '../../pull/known-models.ts'

/** A model of one use was named where one of the other is needed. */
export class ModelUseError extends InputError {
  /**
   * @param model what was named, as a person reads it.
   * @param use what it is for.
   */
  constructor(model: string, use: ModelUse) {
    super({
      code: 'model/other-use',
      message:
        use === 'sentences'
          ? `${model} is a sentence model, and a language model is needed here: it compares texts, and writes none.`
          : `${model} is a language model, and a sentence model is needed here: it writes texts, and does not compare them.`,
      hint:
        use === 'sentences'
          ? `Name a language model, for example minimind2-small or ${packagedNames('language')[0]}. A sentence model is what "embedder" of a memory names, and openSentenceEmbedder.`
          : `Name a sentence model: ${packagedNames('sentences').join(', ')}, or a folder that holds one.`,
    })
  }
}
