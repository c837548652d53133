import { z } from 'zod'
import { DecisionId, NodeId, VersionId } from './id.ts'
import { Json } from './json.ts'
import { ParameterKind, ParameterName } from './parameter.ts'

/**
 * How likely the decision was under the policy that made it, as a natural logarithm (a hundred tokens' probability
 * underflows), or `null` with the reason that it is not known. Never invented.
 */
export const Propensity = z.union([
  z.strictObject({ log: z.number().max(1e-3) }),
  z.strictObject({ log: z.null(), reason: z.enum(['closed-api', 'deterministic', 'not-recorded']) }),
])
export type Propensity = z.infer<typeof Propensity>

/** Of what is decided by no chance. */
export const notByChance: Propensity = { log: null, reason: 'deterministic' }

/**
 * One thing that was read: a node, which stands for itself and all that comes before it, or an earlier Decision that is
 * on no such path: a text that was read without a message, what another branch said.
 */
export const Input = z.union([NodeId, z.strictObject({ decision: DecisionId })])
export type Input = z.infer<typeof Input>

/**
 * One thing that one Parameter decided. `inputs` makes the decisions of an episode a graph, not a timeline: `upstreamOf`
 * tells which Decisions it came from.
 */
export const Decision = z.strictObject({
  id: DecisionId,
  /** Index of the Step it belongs to. */
  step: z.int().nonnegative(),
  parameter: ParameterName,
  kind: ParameterKind,
  version: VersionId,
  /** Activations of its agent's releases, at the time of the decision: see `Activation.generation`. */
  generation: z.int().nonnegative(),
  /** Optimizer steps of the run that was under way, when the decision was made by an unreleased checkpoint. */
  checkpoint: z.int().nonnegative().nullable(),
  /**
   * What was decided, in the kind's own schema: the option chosen among which, items recalled with their scores. Absent
   * where the output node holds it all, as of `weights` and `text`, and in older records.
   */
  made: Json.exactOptional(),
  /**
   * The last node of each branch that it read, so that what a conversation's decisions hold grows with its length, and
   * the earlier Decisions that it read elsewhere, each named where it was first read. One that left no message names the
   * one before it that did not, so that who names the last of them names all. Older records name every node, and no
   * Decision; or each of those without a message, one by one.
   */
  inputs: z.array(Input),
  /** The node that holds what was decided; `null` when the decision left no message of its own. */
  output: NodeId.nullable(),
  propensity: Propensity,
})
export type Decision = z.infer<typeof Decision>
