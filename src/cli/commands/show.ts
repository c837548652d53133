import { writeFile } from 'node:fs/promises'
import { parseInput, Tenant, type Trajectory } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { implicitSignals } from '../../reward/index.ts'
import { findTrajectory } from '../trajectory/find.ts'
import { judging, type JudgingFlags } from '../trajectory/judging.ts'
import { readText } from '../trajectory/read.ts'
import { trajectoryTree } from '../trajectory/tree.ts'
import { wrapped } from '../trajectory/wrap.ts'
import { type StoreFlags, withStore } from '../with-store.ts'

interface ShowFlags extends StoreFlags, JudgingFlags {
  readonly tenant?: string
  readonly tokens?: boolean
  readonly full?: boolean
  readonly verbose?: boolean
  readonly graph?: boolean
  readonly svg?: string
  readonly read?: number
}

/** `ratchet show [ID]`: one trajectory as a tree, with its tokens, signals and reward. */
export function showCommand(name: string | undefined, flags: ShowFlags): Promise<void> {
  return withStore(flags, 'read', async (store) => {
    const tenant = flags.tenant === undefined ? undefined : parseInput(Tenant, flags.tenant, 'The tenant')
    const found = await findTrajectory(store, name, tenant)
    if (flags.graph || flags.svg !== undefined) return showGraph(found.trajectory, flags)
    if (flags.read !== undefined) {
      process.stdout.write(readText(found.trajectory, flags.read, flags))
      return
    }
    const now = Date.now()
    const told = await store.signals.of(found.trajectory.id)
    const signals = [...told, ...implicitSignals(found.trajectory, now)]
    const earned = await (await judging(flags, now))(found, told)
    if (flags.json) {
      process.stdout.write(`${JSON.stringify({ ...found, reward: earned.reward, signals })}\n`)
      return
    }
    const { tokens = false, full = false, verbose = false } = flags
    const options = { tokens, verbose, width: full ? 1_000_000 : 400, now }
    const tree = trajectoryTree({ trajectory: found.trajectory, earned }, signals, options)
    process.stdout.write(process.stdout.isTTY ? wrapped(tree, process.stdout.columns) : tree)
  })
}

/** `ratchet show --graph`: what each decision was built from, as text, or as a drawing in a file. */
async function showGraph(trajectory: Trajectory, { svg }: Pick<ShowFlags, 'svg'>): Promise<void> {
  // What draws takes half a second to load.
  if (svg === undefined) {
    const { graphText } = await import('../trajectory/graph.ts')
    process.stdout.write(graphText(trajectory))
    return
  }
  const { graphSvg } = await import('../../report/index.ts')
  try {
    await writeFile(svg, graphSvg(trajectory))
  } catch (cause) {
    throw new InputError({
      code: 'input/unwritable-drawing',
      message: `The drawing ${svg} cannot be written: ${(cause as Error).message}.`,
      hint: 'Name a file in a folder that is there and may be written, with: ratchet show ID --svg FILE',
      cause,
    })
  }
  process.stdout.write(`${svg}\n`)
}
