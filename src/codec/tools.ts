import type { Step, ToolDefinition, Trajectory, TrajectoryNode } from '../core/index.ts'

/**
 * The tools that the last call on a path was made with, of those that had any: another branch, a sub-agent's, may have had
 * others.
 * @param stepOf steps by their action.
 */
export function toolsOn(
  path: readonly TrajectoryNode[],
  { toolsets }: Pick<Trajectory, 'toolsets'>,
  stepOf: ReadonlyMap<string, Step>,
): readonly ToolDefinition[] {
  const key = path.map(({ id }) => stepOf.get(id)?.call?.tools).findLast((key) => typeof key === 'string')
  return toolsets[key ?? ''] ?? []
}
