import type { Application } from './application.ts'

interface TextField {
  name: keyof Application
  label: string
  type: 'text' | 'email' | 'tel'
  autoComplete: string
  inputMode?: 'email' | 'tel' | 'url'
  autoCapitalize?: 'none'
  spellCheck?: false
}

/** The required one-line fields, in the order of the form. */
export const textFields = [
  { name: 'first_name', label: 'First name', type: 'text', autoComplete: 'given-name' },
  { name: 'last_name', label: 'Last name', type: 'text', autoComplete: 'family-name' },
  { name: 'email', label: 'Email', type: 'email', autoComplete: 'email', inputMode: 'email' },
  { name: 'phone', label: 'Phone', type: 'tel', autoComplete: 'tel', inputMode: 'tel' },
  // Not type="url": people write "in/ada" as often as a full address.
  {
    name: 'linkedin',
    label: 'LinkedIn',
    type: 'text',
    autoComplete: 'url',
    inputMode: 'url',
    autoCapitalize: 'none',
    spellCheck: false,
  },
  { name: 'company', label: 'Company', type: 'text', autoComplete: 'organization' },
] as const satisfies readonly TextField[]

/** The labels of the form's other fields. */
export const questions = {
  paid_solution:
    'Have you ever paid for a solution to disconnect from social media or technology? If so, what?',
  custom_solution: 'Press enter to add custom option',
  team_size: 'How many full time team members are on your team?',
  reason: 'Why do you want to attend this retreat?',
  consent: 'I consent to receiving communications from this team',
} as const satisfies Partial<Record<keyof Application, string>>
