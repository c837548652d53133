import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { testedVersions } from './support/tested-versions.ts'

const read = (name: string) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

it.each(Object.entries(testedVersions))('says of %s everywhere that %s was tested', (name, version) => {
  const table = read('docs/trainers.md').split('\n')
  expect(table).toContainEqual(expect.stringMatching(new RegExp(`^\\| \`${name}\` \\| ${version} \\|`)))
  for (const file of ['docs/trainers.md', '.ci/run', 'scripts/tinker/requirements.txt', 'test/tinker-skyrl.test.ts']) {
    // With extras, as in skyrl[tinker,jax].
    for (const [, pinned] of read(file).matchAll(
      new RegExp(`(?<![-\\w])${name}(?:\\[[\\w,]+\\])?==([\\d.]+\\d)`, 'g'),
    )) {
      expect(pinned, `${name} in ${file}`).toBe(version)
    }
  }
})
