import { InputError } from '../../errors/index.ts'

/** A task whose `data` a file environment cannot open or check. */
export class MalformedFilesTaskError extends InputError {
  constructor(taskId: string, problem: string) {
    super({
      code: 'environment/malformed-files-task',
      message: `Task ${JSON.stringify(taskId)} cannot be opened in a file environment: ${problem}.`,
      hint: 'Give it data of the form {"job", "files": {"inbox/forest": "…"}, "changes": {"inbox/forest": null}}.',
    })
  }
}
