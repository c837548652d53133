import { type Agent, AgentError, type GivenModels, weightsOf } from '../../agent/index.ts'
import type { ChatModel, CreditEstimator, ModelService } from '../../core/index.ts'
import { attributionJudge, modelJudge } from '../../reward/index.ts'

/** Which models a run is given: those that answer for weights, and a `judge` that credit may ask. */
export interface RunModels {
  /** Answers for the agent's weights, where one Parameter holds them all. */
  readonly model?: ModelService
  /**
   * What answers for each Parameter of weights, by its name; one service may answer for several on its base. As `judge`, a model
   * that credit asks of episodes and of their steps, as `adca` does: `models: { judge: chatModel(…) }`, beside `model` or the others.
   */
  readonly models?: Readonly<Record<string, ModelService | ChatModel>>
}

/** The name of the model that judges, where no Parameter of weights has it. */
const judgeName = 'judge'

/**
 * Tells the model that judges from those that answer for weights.
 * @throws AgentError for a model in the place of the other sort.
 */
export function givenModels(
  agent: Agent,
  { model, models = {} }: RunModels,
): { readonly weights: GivenModels; readonly judge: ChatModel | null } {
  const parameters = weightsOf(agent)
  const services: Record<string, ModelService> = {}
  let judge: ChatModel | null = null
  for (const [name, one] of Object.entries(models)) {
    const judges = name === judgeName && !parameters.includes(judgeName)
    if (judges && 'ask' in one) judge = one
    else if (!judges && 'sampler' in one) services[name] = one
    else throw otherSort(name, judges)
  }
  const weights = {
    ...(model && { model }),
    ...(Object.keys(services).length > 0 && { models: services }),
  }
  return { weights, judge }
}

/** An estimator that has a model to ask, of whole episodes and of their Steps; what a caller gives it goes first. */
export function withJudges(estimator: CreditEstimator, model: ChatModel | null): CreditEstimator {
  if (model === null) return estimator
  const judges = { judge: modelJudge({ model }), stepJudge: attributionJudge({ model }) }
  return { ...estimator, credit: (groups, context) => estimator.credit(groups, { ...judges, ...context }) }
}

const otherSort = (name: string, judges: boolean) =>
  new AgentError({
    code: 'agent/other-sort-of-model',
    message: judges
      ? `\`models.${name}\` is a model with weights, and a judge is one that is asked for words.`
      : `\`models.${name}\` is a model that is asked for words, and the weights "${name}" need one with a sampler and a trainer.`,
    hint: 'Give a ChatModel, such as chatModel(…), as the judge; and a ModelService, such as openEmbeddedModel(…) gives, to weights.',
  })
