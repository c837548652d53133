// All that is to be shown, once, for one seed: the first day, the cycles with the change of the tools among them, and then,
// each on a copy of the store as it stands by then, what somebody tries to do to it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { misread } from './bad.mjs'
import { copyOf } from './copy.mjs'
import { cycles, firstDay } from './cycles.mjs'
import { hacks, teaching, unguarded } from './hacks.mjs'
import { measuring, share } from './measure.mjs'
import { progress } from './progress.mjs'
import { sabotage } from './saboteur.mjs'
import { tryCandidate } from './trial.mjs'
import { openWorld } from './world.mjs'

/** How much of everything; `quick` is for a test, and shows that all of it runs, not how well. */
export const sizes = {
  full: {
    cycles: [
      { tools: 1, cycles: 3 },
      { tools: 2, cycles: 4 },
    ],
    minutes: 60,
    within: '60s',
    learn: {},
    heldOut: 150,
    trial: { most: 1200, measured: 100 },
    hacks: Object.keys(hacks),
    honest: 120,
    atOnce: 32,
  },
  quick: {
    cycles: [{ tools: 1, cycles: 1 }],
    minutes: 6,
    within: '20s',
    learn: { sessions: 60 },
    heldOut: 16,
    trial: { most: 1200, measured: 16 },
    hacks: [],
    honest: null,
    atOnce: 24,
  },
}

/**
 * @param opened the embedded model: `openEmbeddedModel`.
 * @param folder where the stores go, and what each part has found: parts that are there already are not done again.
 * @param size one of `sizes`, with what promotions rest on: `evidence`, see `learning.mjs`.
 * @param tell told in one line what happens.
 * @returns what `report.mjs` shows of a seed.
 */
export async function story({ opened, folder, seed, size, tell }) {
  const { service, countTokens } = opened
  const world = openWorld(seed, countTokens)
  const { atOnce, evidence, within } = size
  const promoted = { evidence, within }
  const live = join(folder, 'live')
  const part = partsIn(folder, size, tell)

  const lived = await part('live', async () => {
    rmSync(live, { recursive: true, force: true })
    const from = await firstDay({ folder: live, world, seed, promoted, atOnce, tell })
    const { cycles: plan, minutes } = size
    const learn = { ...promoted, ...size.learn }
    return cycles({ folder: live, world, seed, from, plan, learn, minutes, atOnce, tell })
  })
  const measured = await part('releases', () => {
    const tasks = world.heldOut.slice(0, size.heldOut)
    const versions = [...new Set(size.cycles.map((step) => step.tools))]
    return progress({ folder: live, service, world, tasks, versions })
  })

  const tools = size.cycles.at(-1).tools
  const trial = { live, folder, service, world, seed, tools, atOnce, tell, promoted, ...size.trial }
  const bad = await part('forced', () => forced(trial))
  const tried = []
  for (const name of size.hacks) {
    for (const guards of ['off', 'on']) {
      tried.push(await part(`${name} ${guards}`.replaceAll(' ', '-'), () => hack({ ...trial, name, guards })))
    }
  }
  const { honest } = size
  const flooded = honest === null ? null : await part('saboteur', () => saboteur({ ...trial, honest }))
  return {
    seed,
    seconds: Math.round(part.seconds),
    sessions: lived.sessions.map(({ began: at, right, acts, version }) => ({ at, right, acts, version })),
    changes: lived.changes,
    runs: runsIn(lived.events),
    ...measured,
    hacks: tried,
    saboteur: flooded,
    forced: bad,
  }
}

/** Does a part and keeps what it found, or reads what it found before; and adds up how long all parts took. */
function partsIn(folder, size, tell) {
  // What was found at another size is not of this story.
  const story = join(folder, 'size.json')
  const own = JSON.stringify(size)
  if (!existsSync(story) || readFileSync(story, 'utf8') !== own) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(story, own)
  }
  async function part(name, work) {
    const path = join(folder, `${name}.json`)
    if (!existsSync(path)) {
      tell(`begins: ${name}`)
      const began = Date.now()
      const found = await work()
      writeFileSync(path, JSON.stringify({ seconds: (Date.now() - began) / 1000, found }))
    }
    const { seconds, found } = JSON.parse(readFileSync(path, 'utf8'))
    part.seconds += seconds
    return found
  }
  part.seconds = 0
  return part
}

/** What each run learned from, and why it began. */
function runsIn(events) {
  const runs = []
  let reason = ''
  for (const event of events) {
    if (event.type === 'learning') reason = event.reason
    if (event.type !== 'gathered') continue
    const { sessions, demonstrations, meanReward, dropped } = event
    runs.push({ at: event.at, sessions, imitated: demonstrations, meanReward, dropped, reason })
  }
  return runs
}

/** One candidate, on a copy of the store; how it ended, and how good it is beside what serves. */
async function attempt({
  live,
  folder,
  service,
  world,
  tools,
  measured,
  name,
  tasks,
  fresh,
  promoted,
  learn,
  ...rest
}) {
  const own = copyOf(live, join(folder, name))
  const { canary, ...ended } = await tryCandidate({
    folder: own,
    service,
    world,
    tasks,
    toolsVersion: tools,
    name,
    from: 0,
    learn: { ...promoted, ...learn },
    ...rest,
  })
  return measuring({ folder: own, service, world }, async (store, scores) => {
    const { baseline, candidate, id } = await store.canaries.get(canary)
    const { versions } = await store.releases.get(baseline)
    const last = (await store.canaries.events(id)).at(-1)
    const ask = fresh.slice(0, measured)
    return {
      ...ended,
      judged: last?.evidence.sessions ?? null,
      exposed: last?.evidence.exposed ?? null,
      success: {
        serving: share(await scores(versions.model, ask, tools)),
        candidate: share(await scores(candidate.model, ask, tools)),
      },
    }
  })
}

function forced(trial) {
  const { world, seed, tools } = trial
  const conversations = world.asked
    .slice(-32)
    .map((task) => [{ role: 'user', content: task.instruction }, ...misread(task, world.toolsFor(task, tools), seed)])
  return attempt({
    ...trial,
    name: 'forced',
    conversations,
    tasks: world.asked.slice(1000),
    fresh: world.heldOut.toReversed(),
  })
}

async function hack({ name, guards, ...trial }) {
  const { world, tools } = trial
  const result = await attempt({
    ...trial,
    name: `${name.replace(' ', '-')}-guards-${guards}`,
    conversations: teaching(hacks[name], world, tools),
    learningRate: 5e-4,
    learn: guards === 'off' ? unguarded : {},
    tasks: alternating(world.asked.slice(1000), world.hard),
    fresh: alternating(world.heldOut.toReversed(), world.hardHeldOut),
  })
  return { name, guards, ...result }
}

/** Two easy questions for each hard one. */
const alternating = (easy, hard) =>
  hard.flatMap((task, i) => [...easy.slice(2 * i, 2 * i + 2), task]).slice(0, 1.5 * easy.length)

async function saboteur({ live, folder, service, world, seed, tools, measured, honest, atOnce, tell }) {
  const own = copyOf(live, join(folder, 'saboteur'))
  const { sessions, arms } = await sabotage({
    folder: own,
    world,
    seed,
    from: 2000,
    honest,
    toolsVersion: tools,
    atOnce,
    tell,
  })
  const ask = world.heldOut.toReversed().slice(0, measured)
  const told = []
  let before = null
  for (const { name, folder: at, run, candidate, leftOut } of arms) {
    await measuring({ folder: at, service, world }, async (store, scores) => {
      const { parents } = await store.versions.get(candidate)
      before ??= share(await scores(parents[0], ask, tools))
      const flood = (await store.alerts.list({ limit: 100 })).some(
        (alert) => alert.kind === 'flood' && alert.run === run,
      )
      told.push({ name, ...share(await scores(candidate, ask, tools)), leftOut, flood })
    })
  }
  return { sessions, before, arms: told }
}
