#!/usr/bin/env node
// Plain JavaScript for old versions of Node, and committed: in a clone the command exists before the first build.
const { existsSync } = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const { engines } = require('../package.json')

const command = path.join(__dirname, '..', 'dist', 'cli', 'main.js')

/** Whether this Node is at least the one that package.json asks for, as in `>=20.19`. */
function isNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [leastMajor, leastMinor] = engines.node.replace('>=', '').split('.').map(Number)
  return major > leastMajor || (major === leastMajor && minor >= leastMinor)
}

function refuse(what, hint) {
  process.stderr.write(`${what}\n  ${hint}\n`)
  process.exitCode = 1
}

if (!isNewEnough())
  refuse(
    `Ratchet needs Node ${engines.node.slice(2)} or newer; this is ${process.versions.node}.`,
    'Install it from https://nodejs.org.',
  )
else if (!existsSync(command)) refuse('Ratchet is not built yet.', 'Run `npm ci` and `npm run build` in its folder.')
else void import(pathToFileURL(command))
