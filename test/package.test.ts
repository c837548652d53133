import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repository } from './docs/scratch.ts'

let home: string
let cwd: string
let gateway: ChildProcess | undefined
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'ratchet-package-'))
  cwd = join(home, 'empty')
  mkdirSync(cwd)
})
afterAll(() => {
  if (gateway?.pid !== undefined) process.kill(-gateway.pid, 'SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

/** What a stranger's machine has: no npm settings of ours, and no download from anywhere but the registry. */
const env = {
  ...process.env,
  NO_COLOR: '1',
  FORCE_COLOR: undefined,
  ONNXRUNTIME_NODE_INSTALL: undefined,
  npm_config_onnxruntime_node_install: undefined,
  npm_config_ignore_scripts: undefined,
  npm_config_cache: undefined as string | undefined,
}

function outputOf(command: string, args: readonly string[], folder = cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
    env,
    maxBuffer: 2 ** 26,
  })
  expect(status, `${command} ${args.join(' ')}\n${stdout}\n${stderr}`).toBe(0)
  return { stdout, stderr }
}

const run = (...given: Parameters<typeof outputOf>): string => outputOf(...given).stdout

/** Starts the gateway and gives its address. */
function serve(): Promise<string> {
  const child = spawn('npx', ['ratchet', 'serve', '--port', '0', '--json'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  gateway = child
  return new Promise((resolve, reject) => {
    let told = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      told += text
      const line = told.split('\n').find((one) => one.includes('"listening"'))
      if (line !== undefined) resolve((JSON.parse(line) as { readonly url: string }).url)
    })
    child.on('exit', (code) => reject(new Error(`serve ended with ${code}: ${told}`)))
  })
}

it('takes a stranger from an empty folder to an episode of their agent, with its reward', async () => {
  run('npm', ['run', 'package', '--', home], repository)
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz'))
  expect(tarball).toBeDefined()
  env.npm_config_cache = join(home, 'cache')
  run('npm', ['init', '-y'])
  const { stderr: warnings } = outputOf('npm', ['install', '--no-audit', '--no-fund', join(home, String(tarball))])
  expect(warnings, 'npm has nothing to warn of').toBe('')

  const installed = join(cwd, 'node_modules', 'ratchet-agents')
  for (const part of ['docs/gateway.md', 'examples/openai-sdk.mjs', 'NOTICE']) readFileSync(join(installed, part))
  for (const one of ['', 'node_modules/onnxruntime-node', 'node_modules/@photostructure/sqlite']) {
    const manifest: unknown = JSON.parse(readFileSync(join(installed, one, 'package.json'), 'utf8'))
    expect(manifest, `${one} brings no script that npm would run`).not.toHaveProperty('scripts')
  }

  run('npx', ['ratchet', 'init', '--yes'])
  expect(run('npx', ['ratchet', 'doctor'])).toContain('All is well.')
  const url = await serve()

  // The stranger's own agent, on plain fetch.
  writeFileSync(
    join(cwd, 'agent.mjs'),
    `const answer = await fetch(\`\${process.env.OPENAI_BASE_URL}/chat/completions\`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'ratchet-session': 'first' },
  body: JSON.stringify({ model: 'minimind2-small', messages: [{ role: 'user', content: 'What is the capital of France?' }], max_tokens: 24 }),
})
if (!answer.ok) throw new Error(await answer.text())
`,
  )
  const agent = spawnSync(process.execPath, ['agent.mjs'], {
    cwd,
    env: { ...env, OPENAI_BASE_URL: `${url}/v1` },
    encoding: 'utf8',
  })
  expect(agent.stderr).toBe('')
  run('npx', ['ratchet', 'signal', 'thumbs', 'true', '--session', 'first'])
  const shown = run('npx', ['ratchet', 'show', 'first'])
  expect(shown).toContain('What is the capital of France?')
  expect(shown).toMatch(/1 call of minimind2-small · \d+ tokens in, \d+ out/)
  expect(shown).toContain('thumbs = true')
  expect(shown).toMatch(/^reward (1|-1, cut short \(token-budget\)) {2}\(thumbs 1.*as of now\)$/m)
  expect(run('npx', ['ratchet', 'trajectories'])).toMatch(
    /first · 1 call of minimind2-small .* · 1 signal · reward -?1 /,
  )

  // The library, by the name that the package has.
  writeFileSync(
    join(cwd, 'use.mjs'),
    "import { learn } from 'ratchet-agents'\nimport { loadDesk } from 'ratchet-agents/environment'\nconsole.log(typeof learn, typeof loadDesk)\n",
  )
  expect(run(process.execPath, ['use.mjs'])).toBe('function function\n')
})
