import { InputError } from '../../errors/index.ts'

/** A task whose `data` no form can be made from. */
export class MalformedFormsTaskError extends InputError {
  constructor(taskId: string, problem: string) {
    super({
      code: 'environment/malformed-forms-task',
      message: `Task ${JSON.stringify(taskId)} cannot be opened as a form: ${problem}.`,
      hint: 'Take tasks from loadForms, or give them data of the form that FormsTaskData describes.',
    })
  }
}
