import { expect, it } from 'vitest'
import { commandsOf, isRunElsewhere, missingParts } from './commands.ts'

it('a shell block is its commands, one by one', () => {
  const block = 'npm ci && npm test   # seconds\n# only words\n\nnode a.mjs \\\n  --seed 1\necho "#1"'
  expect(commandsOf(block)).toEqual(['npm ci', 'npm test', 'node a.mjs --seed 1', 'echo "#1"'])
})

it('slow commands are run by another suite, which must name them', () => {
  expect(isRunElsewhere('npm ci')).toBe(true)
  expect(isRunElsewhere('npm start -- --json --seed N')).toBe(true)
  expect(isRunElsewhere('npm start -- --config x.json')).toBe(false)
  expect(isRunElsewhere('npx ratchet runs')).toBe(false)
})

it('what a measurement names must be there', () => {
  expect(missingParts('node bench/environment.mjs --episodes 10')).toEqual([])
  expect(missingParts('node bench/nothing.mjs')).toEqual(['bench/nothing.mjs'])
  expect(missingParts('npm run build')).toEqual([])
  expect(missingParts('npm run nothing')).toEqual(['npm run nothing'])
})
