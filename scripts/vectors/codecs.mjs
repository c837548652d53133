// Writes what the codecs make of src/codec/vectors/exported.json, for scripts/vectors/codecs.py to hold against the
// formats' own implementations.
import { readFileSync, writeFileSync } from 'node:fs'
import { toAtif, toVerifiers } from '../../dist/codec/index.js'
import { Signal, Trajectory } from '../../dist/core/index.js'

const at = (name) => new URL(`../../src/codec/vectors/${name}.json`, import.meta.url)
const { trajectory, reward, signals } = JSON.parse(readFileSync(at('exported'), 'utf8'))
const exported = { trajectory: Trajectory.parse(trajectory), reward, signals: signals.map((one) => Signal.parse(one)) }
for (const [name, value] of [
  ['atif', toAtif(exported)],
  ['verifiers', toVerifiers(exported)],
]) {
  writeFileSync(at(name), `${JSON.stringify(value, null, 1)}\n`)
}
