import type { AdapterRef, ModelService, SampledChunk } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { Asked } from './asked.ts'
import { Choice, type Piece, slice } from './choice.ts'

/** One request on its way through the sampler. */
export interface Generation {
  readonly service: Pick<ModelService, 'sampler' | 'renderer'>
  readonly asked: Asked
  readonly prompt: readonly number[]
  readonly adapter: AdapterRef | null
  readonly maxTokens: number
  /** Ends the sampling at once. */
  readonly stopping: AbortController
}

/**
 * Samples the answers of one request and tells what they say, in the order of their tokens.
 * @returns whether every answer came to its end.
 */
export async function generate(generation: Generation, tell: (piece: Piece) => void): Promise<boolean> {
  const { service, asked, prompt, adapter, maxTokens, stopping } = generation
  const { sampler, renderer } = service
  const choices = Array.from({ length: asked.choices }, (_, index) => {
    const reader = renderer.read(asked.mayCall ? asked.tools : [], asked.stop)
    return { choice: new Choice({ index, reader, stopTokens: renderer.stop.tokens, oneCall: asked.oneCall }), taken: 0 }
  })
  const failures: unknown[] = []
  const onTokens = (chunk: SampledChunk) => {
    try {
      const one = present(choices[chunk.sample], `sample ${chunk.sample}`)
      one.taken += chunk.tokens.length
      one.choice.take(chunk).forEach(tell)
      if (choices.every(({ choice }) => choice.ended)) stopping.abort()
    } catch (error) {
      failures.push(error)
      stopping.abort()
    }
  }
  const sequences = await sampler.sample({
    prompt,
    adapter,
    samples: asked.choices,
    params: {
      ...asked.params,
      maxTokens,
      stop: [...renderer.stop.strings, ...asked.stop],
      stopTokens: renderer.stop.tokens,
    },
    signal: stopping.signal,
    // A whole answer can be read at its end, unless what it says decides where that is.
    ...(asked.stream || asked.oneCall ? { onTokens } : {}),
  })
  if (failures.length > 0) throw failures[0]
  for (const [index, sequence] of sequences.entries()) {
    const { choice, taken } = present(choices[index], `sample ${index}`)
    choice.take(slice(sequence, taken)).forEach(tell)
    if (!choice.ended && sequence.stopReason !== 'cancelled') tell(choice.end(sequence.stopReason))
  }
  return choices.every(({ choice }) => choice.ended)
}
