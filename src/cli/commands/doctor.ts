import pc from 'picocolors'
import { shellWord, visible } from '../../core/index.ts'
import type { ServeConfig } from '../../gateway/index.ts'
import { servePlan } from '../serve/serve-plan.ts'
import { checkEmbedder } from '../setup/check-embedder.ts'
import { checkListening } from '../setup/check-listening.ts'
import { checkStore } from '../setup/check-store.ts'
import { checkUpstream } from '../setup/check-upstream.ts'
import { type Finding, found, ok } from '../setup/finding.ts'
import { gatewayConfig } from '../setup/gateway-config.ts'
import { locationOf, storeArgument, type StoreFlags } from '../with-store.ts'

interface DoctorFlags extends StoreFlags {
  readonly config?: string
}

/** `ratchet doctor`: whether `ratchet serve` would run here, check by check, and what to do where it would not. */
export async function doctorCommand(flags: DoctorFlags): Promise<void> {
  let failures = 0
  const tell = (finding: Finding) => {
    if (finding.status === 'failure') failures++
    process.stdout.write(flags.json ? `${JSON.stringify(finding)}\n` : lineOf(finding))
  }
  tell(ok('node', `Node ${process.versions.node} on ${process.platform} ${process.arch}.`))
  tell(await checkStore(locationOf(flags)))
  let config: ServeConfig | null = null
  tell(
    await found('configuration', async () => {
      config = await servePlan(flags)
      const file = gatewayConfig(flags.config)
      return ok('configuration', file === undefined ? 'None: every setting has its default.' : `${file} is valid.`)
    }),
  )
  for (const check of config === null ? [] : checksOf(config)) tell(await check())
  process.exitCode = failures > 0 ? 1 : 0
  if (!flags.json) process.stdout.write(closing(failures, flags))
}

const checksOf = (config: ServeConfig): readonly (() => Promise<Finding>)[] => [
  ...config.upstreams.map((upstream) => () => checkUpstream(upstream, process.env)),
  ...config.agents.flatMap(({ name, memory }) => {
    const embedder = memory?.embedder
    return embedder === undefined ? [] : [() => checkEmbedder(name, embedder)]
  }),
  () => checkListening(config),
]

const marks = { ok: pc.green('✓'), warning: pc.yellow('!'), failure: pc.red('✗') } as const

const lineOf = ({ check, status, says, hint }: Finding): string =>
  `${marks[status]} ${pc.bold(check)}  ${visible(says)}\n${hint === null ? '' : `    ${visible(hint)}\n`}`

function closing(failures: number, flags: DoctorFlags): string {
  if (failures > 0) {
    const things = failures === 1 ? 'One thing has' : `${failures} things have`
    return `\n${things} to be fixed before \`ratchet serve\` runs as configured.\n`
  }
  const config = flags.config === undefined ? '' : ` --config ${shellWord(flags.config)}`
  return `\nAll is well. Start it: ${pc.bold(`npx ratchet serve${config}${storeArgument(flags)}`)}\n`
}
