import { InputError } from '../../../errors/index.ts'

/** Bytes that are not an ONNX model, or one whose graph is not the quantised Llama export that was expected. */
export class MalformedOnnxError extends InputError {
  constructor(problem: string, cause?: unknown) {
    super({
      code: 'model/malformed-onnx',
      message: `This ONNX file cannot be read as a quantised Llama: ${problem}`,
      hint: 'Reinstall the package it came with; only the 8-bit dynamic quantisation of transformers.js is understood.',
      cause,
    })
  }
}
