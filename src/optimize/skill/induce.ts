import { z } from 'zod'
import {
  byTime,
  cameTo,
  lexicalEmbedder,
  Likeness,
  problemsOf,
  reservedNames,
  SkillError,
  type SkillKind,
  skillBounds,
  SkillsValue,
} from '../../agent/index.ts'
import {
  canonicalJson,
  type ChatModel,
  type Embedder,
  Json,
  type Learning,
  type Optimizer,
  parseInput,
  type SavedLearning,
  type Seat,
} from '../../core/index.ts'
import { describedBy, type Written } from './describe.ts'
import { judged } from './judge-skills.ts'
import { induced } from './learn-skills.ts'
import { Observation, observed } from './observe.ts'
import { rebound } from './rebind.ts'
import { Shelf } from './shelf.ts'
import { newest, Trace, traceOf } from './traces.ts'

/** How skills are learned. */
export interface InduceOptions {
  /** Different tasks whose solutions must share a routine, 2 to 64. Default 3. */
  readonly fewest?: number
  /** Skills learned in one update, at most. Default 2. */
  readonly perUpdate?: number
  /** Learned skills at most, up to 256. Default 64. */
  readonly capacity?: number
  /** The chance in [0, 0.5] that an attempt in practice is offered no skill, and half of it that one is left out. Default 0.2. */
  readonly explore?: number
  /** The chance in [0, 0.5] that a barred skill is tried again in practice. Default 0.1. */
  readonly retry?: number
  /** Days after which a rule against a skill ends. Default 14. */
  readonly ruleDays?: number
  /** What a thousand tokens of definitions must bring, in rewards read as −1 to 1. Default 0.02. */
  readonly tokenPrice?: number
  /**
   * Whom a skill reaches that a person's sessions taught: `subject`, that person alone, or `tenant`, everybody of the tenant.
   * Default `subject`. What practice taught reaches everybody.
   */
  readonly share?: 'subject' | 'tenant'
  /** Gives skills names, descriptions and better code. Default: nobody; they are named by what they call. */
  readonly writer?: ChatModel
  /** Default: that of `skills()`. */
  readonly embedder?: Embedder
}

const Numbers = z.object({
  fewest: z.int().min(2).max(64).default(3),
  perUpdate: z.int().positive().max(32).default(2),
  capacity: z.int().positive().max(skillBounds.skills).default(64),
  explore: z.number().min(0).max(0.5).default(0.2),
  retry: z.number().min(0).max(0.5).default(0.1),
  ruleDays: z.number().positive().default(14),
  tokenPrice: z.number().nonnegative().default(0.02),
  share: z.enum(['subject', 'tenant']).default('subject'),
})

const dayMs = 24 * 60 * 60 * 1_000
/** Episodes that rules of a scope are sought in, the newest. */
const mostObservations = 1_000

const Saved = z.object({ value: SkillsValue, traces: z.array(Trace), observations: z.array(Observation) })

/**
 * Learns skills from episodes that worked. Runs of calls that the solutions of several tasks share become tools; each comes
 * with tests from its episodes, and none is kept that fails one. What skills bring is measured by leaving them out now and
 * then; what does harm is barred by a rule that can be proved wrong, and pruned. Works on practice and on traffic alike.
 * @throws SkillError for a number out of its range.
 */
export function induce(options: InduceOptions = {}): Optimizer<SkillKind> {
  const { success, data, error } = Numbers.safeParse(options)
  if (!success) throw badOptions(error)
  const { embedder = lexicalEmbedder(), writer = null } = options
  return {
    name: 'induce',
    kind: 'skill',
    open: (seat, saved) => Promise.resolve(session({ ...data, embedder, writer }, seat, saved)),
  }
}

type Settings = z.infer<typeof Numbers> & { readonly embedder: Embedder; readonly writer: ChatModel | null }

function session(settings: Settings, seat: Seat<SkillsValue>, saved: SavedLearning | null): Learning<SkillKind> {
  const { explore, retry, ruleDays, share, embedder, writer, ...rest } = settings
  const resumed = saved ? parseInput(Saved, saved.state, `the state of the skills "${seat.parameter}"`) : null
  const shelf = new Shelf(resumed?.value ?? seat.value)
  const likeness = new Likeness(embedder)
  let traces: readonly Trace[] = resumed?.traces ?? []
  let observations: readonly Observation[] = resumed?.observations ?? []
  const served = canonicalJson(Json.parse(seat.value.skills))
  const { leaks } = seat
  const isTaken = (name: string) =>
    reservedNames.has(name) ||
    shelf.skills.some((skill) => skill.name === name) ||
    shelf.skills.some(({ uses }) => uses.includes(name)) ||
    traces.some(({ calls }) => calls.some((call) => call.name === name))

  return {
    bound: () =>
      Promise.resolve(
        shelf.value({ explore: Math.max(explore, seat.value.explore), retry: Math.max(retry, seat.value.retry) }),
      ),
    // What only counted episodes offers what served before: there is nothing to judge.
    propose: () => Promise.resolve(offersOf(shelf.value()) === offersOf(seat.value) ? null : shelf.value()),
    save: () =>
      Promise.resolve({ state: { value: shelf.value(), traces: [...traces], observations: [...observations] } }),
    async step(deposits) {
      const lived = deposits.toSorted(byTime).flatMap((experience) => {
        const came = cameTo(experience)
        return came === null ? [] : [{ experience, came }]
      })
      const last = lived.at(-1)?.experience
      if (last === undefined) return { skills: shelf.skills.length, asked: 0 }
      const reboundNow = rebound(shelf, last.model)
      observations = observations.filter(({ skill }) => !reboundNow.has(skill))
      for (const { experience, came } of lived) {
        if (experience.model !== last.model) continue
        observations = [
          ...observations,
          ...(await observed(experience, came, { shelf, likeness, before: observations })),
        ]
      }
      observations = observations.slice(-mostObservations)
      const traced = lived.flatMap(({ experience, came }) => traceOf(experience, came, share) ?? [])
      // What another model did says nothing of what this one can use.
      traces = newest([...traces, ...traced].filter(({ model }) => model === last.model))
      const written: Written = { described: 0, rewritten: 0, refused: 0 }
      const describe = writer === null ? null : describedBy(writer, { leaks, served, isTaken }, written)
      const verdicts = await judged(shelf, observations, { ...rest, ruleFor: ruleDays * dayMs, at: last.at, likeness })
      const made = await induced(shelf, traces, { ...rest, leaks, served, describe })
      const offered = lived.filter(({ experience }) => experience.skills.some((skill) => skill.offered))
      const called = lived.filter(({ experience }) => experience.uses.length > 0)
      return {
        ...verdicts,
        ...made,
        ...(writer === null ? {} : written),
        rebound: reboundNow.size,
        skills: shelf.skills.length,
        rules: shelf.rules.length,
        asked: lived.length,
        offered: offered.length,
        called: called.length,
        helped: called.filter(({ came }) => came.example === 'worked').length,
      }
    },
  }
}

/** What decides which skills are offered for what. */
const offersOf = ({ skills, rules }: SkillsValue): string =>
  JSON.stringify([
    skills.map(({ id, model }) => `${id} ${model}`).toSorted(),
    rules.map(({ skill, scope }) => JSON.stringify([skill, scope])).toSorted(),
  ])

const badOptions = (error: z.ZodError) =>
  new SkillError({
    code: 'skill/bad-options',
    message: `induce: ${problemsOf(error)}.`,
    hint: 'See InduceOptions for what each may be.',
  })
