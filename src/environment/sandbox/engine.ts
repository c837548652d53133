import {
  type CustomizeVariantOptions,
  newQuickJSWASMModule,
  newVariant,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten'

/** A QuickJS whose memory ends somewhere. */
export interface Engine {
  readonly quickJs: QuickJSWASMModule
  /** Whether nearly all of its memory has been taken at some time. */
  readonly isFull: () => boolean
}

type Memory = Extract<CustomizeVariantOptions['wasmMemory'], { readonly buffer: ArrayBuffer }>

/** Node has it; the types of browsers, which declare it, are not loaded. */
declare const WebAssembly: {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => Memory
}

const pageBytes = 65_536
/** Pages that the module begins with; its own data and the first 10 MiB or so of the code's lie in them. */
const firstPages = 256

/**
 * QuickJS counts its memory by what the allocator says of each block, and that of WebAssembly says nothing: its own limit holds a
 * single block only. So the WebAssembly memory itself has a maximum.
 */
export async function newEngine(memoryBytes: number): Promise<Engine> {
  const maximum = firstPages + Math.ceil(memoryBytes / pageBytes)
  const wasmMemory = new WebAssembly.Memory({ initial: firstPages, maximum })
  const quickJs = await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory }))
  return { quickJs, isFull: () => wasmMemory.buffer.byteLength > 0.9 * maximum * pageBytes }
}
