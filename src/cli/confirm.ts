import { confirm, isCancel } from '@clack/prompts'
import { InputError } from '../errors/index.ts'

/**
 * Asks a person before something that cannot be undone.
 * @throws InputError where there is nobody to ask: scripts say `--yes`.
 */
export async function confirmed(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new InputError({
      code: 'input/not-confirmed',
      message: 'Nothing was removed: this terminal cannot ask for confirmation.',
      hint: 'Look at the counts above, and run it again with --yes.',
    })
  }
  const answer = await confirm({ message: question, initialValue: false })
  return !isCancel(answer) && answer
}
