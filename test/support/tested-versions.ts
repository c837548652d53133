import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** The Python packages that the trainers are tested with, by the version. */
export const testedVersions = z
  .strictObject({ tinker: z.string(), 'tinker-cookbook': z.string(), skyrl: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../scripts/tinker/versions.json', import.meta.url), 'utf8')))

/** The version of a package in the environment of this Python; what it says where there is none. */
export function installedVersion(python: string, name: keyof typeof testedVersions): string {
  const script = 'import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))'
  const { stdout, stderr } = spawnSync(python, ['-c', script, name], { encoding: 'utf8' })
  return stdout.trim() || stderr
}
