/**
 * Readies ONNX Runtime for the package that `npm pack` makes: it goes into the tarball without its install script, which
 * would download CUDA libraries on the user's machine and fail on a closed network. Its CPU binaries are in its own package.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'

const file = new URL('../node_modules/onnxruntime-node/package.json', import.meta.url)
const { scripts: _scripts, devDependencies: _devDependencies, ...engine } = JSON.parse(await readFile(file, 'utf8'))
// The other two are of the install script alone.
const { 'onnxruntime-common': common } = engine.dependencies
// A file that is new in its folder: npm then reads it, and not what it wrote down at its installation.
const next = new URL('package.json.next', file)
await writeFile(next, `${JSON.stringify({ ...engine, dependencies: { 'onnxruntime-common': common } }, null, 2)}\n`)
await rename(next, file)
