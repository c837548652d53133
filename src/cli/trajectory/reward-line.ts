import pc from 'picocolors'
import { said } from './said.ts'
import type { RewardNow } from './reward-now.ts'

/** A reward with its parts, and whether it can still change. */
export function rewardLine({ reward, asOf, because }: RewardNow): string {
  const parts = Object.entries(reward.parts).map(([name, value]) => `${said(name, 60)} ${value ?? 'missing'}`)
  const about = [...(parts.length > 0 ? [parts.join(', ')] : []), ...(asOf === null ? [] : ['as of now'])].join('; ')
  const detail = about === '' ? '' : pc.dim(`  (${about})`)
  switch (reward.status) {
    case 'scored':
      return `reward ${pc.bold(rounded(reward.value))}${because === null ? '' : `, ${because}`}${detail}`
    case 'vetoed':
      return `reward ${pc.red(`${reward.value}, vetoed by ${said(reward.guard, 60)}: ${said(reward.reason, 300)}`)}${detail}`
    case 'missing':
      return `reward ${pc.dim(`missing: ${said(reward.reason, 300)}`)}${detail}`
  }
}

/** A reward in a list. */
export function shortReward({ reward }: RewardNow): string {
  switch (reward.status) {
    case 'scored':
      return `reward ${rounded(reward.value)}`
    case 'vetoed':
      return pc.red(`reward ${rounded(reward.value)}, ${said(reward.guard, 30)}`)
    case 'missing':
      return pc.dim('no reward yet')
  }
}

const rounded = (value: number): string => String(Number(value.toPrecision(4)))
