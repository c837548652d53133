import { z } from 'zod'

const id = <B extends string>(brand: B) => z.string().min(1).max(256).brand(brand)

/** Identifies a Task within its environment; stable across processes. */
export const TaskId = id('TaskId')
export type TaskId = z.infer<typeof TaskId>
/** Identifies one Trajectory. */
export const TrajectoryId = id('TrajectoryId')
export type TrajectoryId = z.infer<typeof TrajectoryId>
/** Identifies a node of a trajectory's message tree; unique within its Trajectory. */
export const NodeId = id('NodeId')
export type NodeId = z.infer<typeof NodeId>
/** Identifies one Decision; unique within its Trajectory. */
export const DecisionId = id('DecisionId')
export type DecisionId = z.infer<typeof DecisionId>
/** Content hash of an immutable value of a Parameter. */
export const VersionId = id('VersionId')
export type VersionId = z.infer<typeof VersionId>
/** Identifies one learning run. */
export const RunId = id('RunId')
export type RunId = z.infer<typeof RunId>
/** Content hash of a gate's receipt. */
export const ReceiptId = id('ReceiptId')
export type ReceiptId = z.infer<typeof ReceiptId>
/** Identifies one Release. */
export const ReleaseId = id('ReleaseId')
export type ReleaseId = z.infer<typeof ReleaseId>
/** Identifies the attempts at one Task that are compared with each other. */
export const GroupId = id('GroupId')
export type GroupId = z.infer<typeof GroupId>
/** Identifies one call of a served model through the gateway. */
export const CallId = id('CallId')
export type CallId = z.infer<typeof CallId>
/** Identifies an API key; not secret. */
export const KeyId = id('KeyId')
export type KeyId = z.infer<typeof KeyId>
/** Identifies one canary. */
export const CanaryId = id('CanaryId')
export type CanaryId = z.infer<typeof CanaryId>
/** Identifies one alert. */
export const AlertId = id('AlertId')
export type AlertId = z.infer<typeof AlertId>
