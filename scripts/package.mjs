/**
 * Makes the tarball that users install: `npm run package [-- FOLDER]`. The two dependencies that have an install script go
 * into it without theirs. One would download CUDA libraries and fail on a closed network; npm warns of both. Their
 * binaries are in their own packages. The tarball is packed in a folder of its own, and nothing in node_modules changes.
 */
import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))
const bundled = ['onnxruntime-node', '@photostructure/sqlite']
/** What the install script of `onnxruntime-node` needs, and nothing else. */
const ofInstallScripts = new Set(['adm-zip', 'global-agent'])

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'))
const writeJson = (file, value) => writeFile(file, `${JSON.stringify(value, null, 2)}\n`)

/** Copies a package and what it depends on, each once, without scripts. */
async function copyPackage(name, folder, done) {
  if (done.has(name)) return
  done.add(name)
  const to = join(folder, 'node_modules', name)
  await mkdir(join(to, '..'), { recursive: true })
  await cp(await realpath(join(repository, 'node_modules', name)), to, { recursive: true })
  const { scripts: _scripts, devDependencies: _devDependencies, ...manifest } = await readJson(join(to, 'package.json'))
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies ?? {}).filter(([one]) => !ofInstallScripts.has(one)),
  )
  // npm would run node-gyp for a package that has this file and no install script.
  await rm(join(to, 'binding.gyp'), { force: true })
  await writeJson(join(to, 'package.json'), { ...manifest, dependencies, gypfile: false })
  for (const one of Object.keys(dependencies)) await copyPackage(one, folder, done)
}

const destination = resolve(process.argv[2] ?? '.')
const folder = await mkdtemp(join(tmpdir(), 'ratchet-package-'))
try {
  const { scripts: _scripts, devDependencies: _dev, ...manifest } = await readJson(join(repository, 'package.json'))
  for (const part of manifest.files) await cp(join(repository, part), join(folder, part), { recursive: true })
  await writeJson(join(folder, 'package.json'), { ...manifest, bundleDependencies: bundled })
  const done = new Set()
  for (const name of bundled) await copyPackage(name, folder, done)
  await mkdir(destination, { recursive: true })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  // Of a package that has no shrinkwrap, npm's answer lists thousands of files.
  const answer = execFileSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    shell: process.platform === 'win32',
  })
  const packed = JSON.parse(answer)
  const [{ filename, size }] = Array.isArray(packed) ? packed : Object.values(packed)
  console.log(`${join(destination, filename)}  ${Math.round(size / 1e6)} MB`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
