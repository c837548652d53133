/** Turns texts into vectors, so that those of like meaning lie near each other. It runs where the program runs. */
export interface Embedder {
  /** Names the model and its settings: vectors of two names are never compared. */
  readonly name: string
  /** Numbers of one vector, ≥ 1. */
  readonly dimensions: number
  /** Whether a vector costs so much to make that it is kept with what it stands for. */
  readonly costly: boolean
  /** Vectors of length 1, one for each text, in their order; all zero for a text that says nothing. Equal texts give equal vectors. */
  embed(texts: readonly string[]): Promise<readonly Float32Array[]>
}
