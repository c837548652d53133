/**
 * Completes package-lock.json with the optional platform binaries that the registry at hand does not hold. npm leaves
 * them out then, and `npm ci` refuses such a lock everywhere. Run it after `npm install`:
 *
 *   node scripts/complete-lockfile.mjs
 */
import { readFileSync, writeFileSync } from 'node:fs'

const path = 'package-lock.json'
const lock = JSON.parse(readFileSync(path, 'utf8'))

/** What `@biomejs/cli-linux-x64-musl`, `@oxlint/binding-darwin-arm64` and their like run on, by their names. */
function platformOf(name) {
  const [os, cpu, abi = ''] = name
    .split('/')
    .at(-1)
    .replace(/^(cli|binding)-/, '')
    .split('-')
  const libc = os !== 'linux' ? [] : abi.startsWith('musl') ? ['musl'] : ['glibc']
  return { cpu: [cpu], ...(libc.length > 0 && { libc }), os: [os] }
}

for (const owner of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`
    if (lock.packages[key] || !/^[\d.]+(-[\w.]+)?$/.test(version)) continue
    const { dev, license } = owner
    lock.packages[key] = { version, ...(dev && { dev }), ...platformOf(name), license, optional: true }
    console.log(`added ${name} ${version}`)
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
