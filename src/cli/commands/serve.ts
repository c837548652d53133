import pc from 'picocolors'
import { gatewayLogger, type RunningGateway, type ServeConfig } from '../../gateway/index.ts'
import { announceWriter, openStore } from '../../store/index.ts'
import { defaultGatewayUrl } from '../gateway/gateway-url.ts'
import { canaryRules } from '../learning/canary-rules.ts'
import { learnerEvents } from '../learning/learner-events.ts'
import { lookAt, startLearners } from '../learning/learners.ts'
import { problemLog } from '../learning/problem-log.ts'
import { servedLearners } from '../learning/learner-plan.ts'
import { askedToStop } from '../serve/asked-to-stop.ts'
import { humanLog } from '../serve/human-log.ts'
import { openUpstream } from '../serve/open-upstream.ts'
import { serveReleases } from '../serve/serve-releases.ts'
import { type ServeFlags, servePlan } from '../serve/serve-plan.ts'
import { locationOf, storeArgument } from '../with-store.ts'

/** `ratchet serve`: the gateway, until it is asked to stop. Calls under way end first. */
export async function serveCommand(flags: ServeFlags): Promise<void> {
  const config = await servePlan(flags)
  const plans = await servedLearners(config)
  const location = locationOf(flags)
  const store = await openStore(location)
  try {
    // One stream says one thing: JSON lines for machines, or lines for people.
    const logger = gatewayLogger(flags.json ? {} : { destination: humanLog(process.stdout) })
    const upstream = await openUpstream(config.upstreams, process.env, (hash) => store.blobs.get(hash), {
      log: logger,
    })
    try {
      const exclusive = 'path' in location
      const releases = { look: lookAt(plans, store), rules: canaryRules(config) }
      const gateway = await serveReleases({ config, store, upstream, exclusive, releases, logger })
      if ('path' in location) announceWriter(location.path, gateway.url)
      say(flags, gateway, config)
      const told = { onEvent: learnerEvents(flags.json === true), onProblem: problemLog(logger) }
      const learners = startLearners(flags.learn === false ? [] : plans, store, told)
      await askedToStop()
      if (!flags.json)
        process.stdout.write(`\n${pc.dim('Stopping after the running calls. Press Ctrl-C again to stop at once.')}\n`)
      // At once: a run may take minutes to its next checkpoint, and whoever stops processes waits for seconds only.
      const stopped = learners.stop()
      try {
        await gateway.close()
      } finally {
        await stopped
      }
    } finally {
      await upstream.close()
    }
  } finally {
    await store.close()
  }
}

const smallModel = 'minimind2-small'

const namesOf = (named: readonly { readonly name: string }[]) => named.map(({ name }) => name).join(', ')

function say(flags: ServeFlags, { url, open }: RunningGateway, { upstreams, agents }: ServeConfig): void {
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ type: 'listening', url, open })}\n`)
    return
  }
  const store = storeArgument(flags)
  // Where the store is a database, nothing in it says where its gateways are.
  const address = url === defaultGatewayUrl || 'path' in locationOf(flags) ? store : ` --url ${url}`
  process.stdout.write(
    [
      `${pc.green('●')} ${pc.bold(url)} answers as the OpenAI API does, through ${namesOf(upstreams)}, and records what happens.`,
      ...(agents.length > 0
        ? [
            '  It serves releases to requests that name their agent in the header ratchet-agent, and its model:',
            ...agents.map(({ name, model }) => `    ${name} with the model ${model}`),
          ]
        : qualityOf(upstreams)),
      '',
      `  Point your agent at it:      ${pc.bold(`OPENAI_BASE_URL=${url}/v1`)}${open ? pc.dim('   (any key will do from this machine)') : ''}`,
      `  List the episodes:           npx ratchet trajectories${store}`,
      `  Read the latest episode:     npx ratchet show${store}`,
      `  Rate an episode:             npx ratchet signal thumbs false --session NAME${address}${open ? '' : pc.dim('   (RATCHET_API_KEY holds a key)')}`,
      '',
    ].join('\n') + '\n',
  )
}

/** What the small model of the package is good for. Nobody should judge an agent by it. */
function qualityOf(upstreams: ServeConfig['upstreams']): readonly string[] {
  if (!upstreams.some(({ url, model }) => url === 'embedded' && model === smallModel)) return []
  const note = `${smallModel} has 26 million weights: good for a trial, with poor answers.`
  return [
    `  ${pc.yellow(note)}`,
    `  ${pc.yellow('For a real agent: npx ratchet serve --upstream https://api.openai.com/v1')}`,
  ]
}
