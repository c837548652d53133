import { existsSync } from 'node:fs'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { intro, isCancel, select, text } from '@clack/prompts'
import pc from 'picocolors'
import { InputError } from '../../errors/index.ts'
import { firstConfig, type Setup, usualKeyOf } from '../setup/first-config.ts'
import { gatewayConfigFile } from '../setup/gateway-config.ts'

interface InitFlags {
  readonly upstream?: string
  readonly upstreamKey?: string
  readonly agent?: string
  readonly model?: string
  readonly yes?: boolean
}

const embeddedModel = 'minimind2-small'

/**
 * `ratchet init`: writes the configuration that `ratchet serve` reads, from a few answers or from flags.
 * @throws InputError when there is one already, or nobody to ask and no `--yes`.
 */
export async function initCommand(flags: InitFlags): Promise<void> {
  if (existsSync(gatewayConfigFile)) {
    throw new InputError({
      code: 'input/already-set-up',
      message: `${gatewayConfigFile} is there already, and was not changed.`,
      hint: 'Edit it (docs/gateway.md lists its keys), or remove it first; `ratchet doctor` checks it.',
    })
  }
  const setup = await setupFrom(flags)
  if (setup === null) {
    process.stdout.write('Nothing was written.\n')
    return
  }
  const config = firstConfig(setup)
  await writeFile(gatewayConfigFile, `${JSON.stringify(config, null, 2)}\n`, { flag: 'wx' })
  const ignored = await ignoreStore()
  const { keyEnv } = setup
  process.stdout.write(
    [
      `${pc.green('✓')} ${gatewayConfigFile} is written.${ignored ? ' .gitignore leaves out the store, .ratchet/.' : ''}`,
      '',
      `  Check it:             ${pc.bold('npx ratchet doctor')}${keyEnv === null ? '' : pc.dim(`   (${keyEnv} must be set)`)}`,
      `  Start the gateway:    ${pc.bold('npx ratchet serve')}`,
      `  Point your agent at:  OPENAI_BASE_URL=http://127.0.0.1:8787/v1`,
      `  Read its episode:     npx ratchet show`,
      '',
    ].join('\n'),
  )
}

/** What was said by flags, and what is asked for beside; `null` where the person thought better of it. */
async function setupFrom(flags: InitFlags): Promise<Setup | null> {
  const said = flags.yes === true || flags.upstream !== undefined
  if (!said && !(process.stdin.isTTY && process.stdout.isTTY)) {
    throw new InputError({
      code: 'input/not-confirmed',
      message: 'Nothing was written: this terminal cannot ask questions.',
      hint: 'Give --upstream, or --yes for the bundled small model.',
    })
  }
  const asked = said ? upstreamOf(flags) : await askUpstream()
  if (asked === null) return null
  const model = flags.model ?? (asked.upstream === null ? embeddedModel : undefined)
  if (flags.agent !== undefined && model === undefined) {
    throw new InputError({
      code: 'input/agent-without-model',
      message: `--agent ${flags.agent} needs the model that the agent asks for.`,
      hint: 'Add --model with the name in its requests.',
    })
  }
  const agent = flags.agent === undefined || model === undefined ? null : { name: flags.agent, model }
  return { ...asked, agent }
}

type Upstream = Omit<Setup, 'agent'>

function upstreamOf({ upstream, upstreamKey }: InitFlags): Upstream {
  if (upstream === undefined) return { upstream: null, keyEnv: null }
  return { upstream, keyEnv: upstreamKey ?? null }
}

async function askUpstream(): Promise<Upstream | null> {
  intro('Which model does your agent call?')
  const kind = await select({
    message: 'Ratchet forwards calls to it and records them.',
    options: [
      { value: 'https://api.openai.com/v1', label: 'OpenAI' },
      { value: 'other', label: 'another API like it: vLLM, Ollama, OpenRouter …' },
      { value: 'embedded', label: 'the bundled small model', hint: '26 million weights: good for a trial' },
    ],
  })
  if (isCancel(kind)) return null
  if (kind === 'embedded') return { upstream: null, keyEnv: null }
  const upstream =
    kind === 'other' ? await text({ message: 'Its base URL', placeholder: 'http://127.0.0.1:8000/v1' }) : kind
  if (isCancel(upstream)) return null
  const keyEnv = await text({
    message: "Environment variable with its key (empty: forward your agent's own key)",
    initialValue: usualKeyOf(upstream) ?? '',
  })
  if (isCancel(keyEnv)) return null
  return { upstream, keyEnv: keyEnv.trim() === '' ? null : keyEnv.trim() }
}

/** Keeps recorded traffic out of git, where this folder is one of git's. Whether anything was written. */
async function ignoreStore(): Promise<boolean> {
  if (!existsSync('.git') && !existsSync('.gitignore')) return false
  const ignored = existsSync('.gitignore') ? await readFile('.gitignore', 'utf8') : ''
  if (ignored.split('\n').some((line) => /^\/?\.ratchet\/?$/.test(line.trim()))) return false
  await appendFile('.gitignore', `${ignored === '' || ignored.endsWith('\n') ? '' : '\n'}.ratchet/\n`)
  return true
}
