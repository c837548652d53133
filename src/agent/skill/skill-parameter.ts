import {
  type Audience,
  type Bound,
  type DecisionRecorder,
  defaultTenant,
  type Embedder,
  notByChance,
  type Propensity,
  type Rng,
} from '../../core/index.ts'
import type { LiveEpisode } from '../live-episode.ts'
import { clipped } from '../memory/clipped.ts'
import { type Equipment, equippedEpisode } from './equipped-episode.ts'
import { type Fitting, fittingSkills } from './find.ts'
import type { FittingSkill, SkillMade } from './made.ts'
import type { Skill } from './skill.ts'
import type { SkillsValue } from './value.ts'

/** What a handle is made with, beside what is bound. */
export interface SkillsOf {
  readonly embedder: Embedder
  /** The model that acts, as it was named. */
  readonly model: string | null
}

/** Skills that a rule bars and that are tried in one episode, at most. */
const mostTrials = 8
const mostOfQuery = 2_048

/** Skills inside an episode. */
export class SkillsParameter {
  readonly #bound: Bound<SkillsValue>
  readonly #recorder: DecisionRecorder<SkillMade>
  readonly #of: SkillsOf
  readonly #audience: Audience
  /** What is asked again is offered the same: tools stay as they are within a session, and so do providers' caches. */
  readonly #offers = new Map<string, Promise<readonly Skill[]>>()
  /** Whether a skill is offered in this episode; one draw each. */
  readonly #drawn = new Map<string, boolean>()
  /** Whether this episode is offered none; drawn once there are some. */
  #bare: boolean | undefined
  readonly #numbers = { run: 0, fork: 0 }

  constructor(bound: Bound<SkillsValue>, recorder: DecisionRecorder<SkillMade>, of: SkillsOf) {
    this.#bound = bound
    this.#recorder = recorder
    this.#of = of
    this.#audience = bound.audience ?? { tenant: defaultTenant, subject: null, at: Date.now() }
  }

  /**
   * The episode with the skills that fit the task among its tools. Act in it in the episode's place: only what is done in it
   * is seen, and learned from. A skill that fails answers with an error that says what to do, as any tool; it throws nothing.
   * @param task what is asked, in words: skills are found by it, and get it.
   * @throws MemoryError for an embedder whose vectors have another size than it says.
   */
  async equip(episode: LiveEpisode, task: string): Promise<LiveEpisode> {
    const tools = episode.tools.map(({ name }) => name)
    const skills = await this.#offer(task, tools)
    const equipment: Equipment = {
      skills: new Map(skills.map((skill) => [skill.name, skill])),
      task,
      limits: this.#bound.value,
      record: (made) => this.#recorder.decide({ made, propensity: notByChance }),
      next: (of) => this.#numbers[of]++,
    }
    return equippedEpisode(episode, equipment)
  }

  #offer(query: string, tools: readonly string[]): Promise<readonly Skill[]> {
    const key = JSON.stringify([query, ...tools])
    const known = this.#offers.get(key)
    if (known) return known
    const offer = this.#draw(query, tools)
    this.#offers.set(key, offer)
    return offer
  }

  async #draw(query: string, tools: readonly string[]): Promise<readonly Skill[]> {
    const { value } = this.#bound
    const { embedder, model } = this.#of
    const sought = { query, tools, model, audience: this.#audience }
    const fitting = considered(await fittingSkills(value, sought, embedder), value)
    const draws = new Draws(this.#bound.rng)
    this.#bare ??= fitting.length > 0 ? draws.happens(value.explore) : undefined
    const bare = this.#bare ?? false
    const skills = fitting.map(({ skill: { id }, similarity, score, barred }): FittingSkill => {
      let offered = bare ? false : this.#drawn.get(id)
      offered ??= barred ? draws.happens(value.retry) : !draws.happens(value.explore / 2)
      this.#drawn.set(id, offered)
      return { id, similarity, score, barred, offered }
    })
    const { explore, retry } = value
    const made = { did: 'offer', query: clipped(query, mostOfQuery), model, skills, bare, explore, retry } as const
    this.#recorder.decide({ made, propensity: draws.propensity })
    return fitting.filter((_, i) => skills[i]?.offered).map(({ skill }) => skill)
  }
}

/** What is drawn for one Decision, and how likely all of it was: draws are independent of each other. */
class Draws {
  readonly #rng: Rng
  #log: number | null = null

  constructor(rng: Rng) {
    this.#rng = rng
  }

  get propensity(): Propensity {
    return this.#log === null ? notByChance : { log: this.#log }
  }

  /** @param chance in [0, 1); 0 draws nothing. */
  happens(chance: number): boolean {
    if (chance === 0) return false
    const does = this.#rng.next() < chance
    this.#log = (this.#log ?? 0) + Math.log(does ? chance : 1 - chance)
    return does
  }
}

/**
 * The best of those that no rule bars, and where rules are tried, of those that one does; of one name, one. What people made
 * stands first. A barred one stands where it would without its rule: a policy that takes the first it can use would never call
 * it at the end, and its trial would show nothing.
 */
function considered(fitting: readonly Fitting[], { offer, retry }: SkillsValue): readonly Fitting[] {
  const names = new Set<string>()
  const isPeoples = ({ skill }: Fitting) => skill.madeBy === 'people'
  const ordered = [...fitting.filter(isPeoples), ...fitting.filter((one) => !isPeoples(one))]
  const named = ordered.filter(({ skill: { name } }) => !names.has(name) && names.add(name))
  const kept = new Set([
    ...named.filter(({ barred }) => !barred).slice(0, offer),
    ...(retry === 0 ? [] : named.filter(({ barred }) => barred).slice(0, mostTrials)),
  ])
  return named.filter((one) => kept.has(one))
}
