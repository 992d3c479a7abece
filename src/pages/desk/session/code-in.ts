import { codeOf } from '../../../application/digits.ts'
import { textIn } from './useForm.ts'

/** The typed code; undefined if it cannot be one. */
export function codeIn(fields: FormData): string | undefined {
  const code = codeOf(textIn(fields, 'code'))
  // Hosted projects can have longer codes.
  return /^\d{6,10}$/.test(code) ? code : undefined
}
