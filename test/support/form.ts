import type { Page } from 'playwright-core'

import type { Application } from '../../src/application/application.ts'

/** A complete application that differs from all others of the same run. */
export function anApplication(changes: Partial<Application> = {}): Application {
  count += 1
  return {
    first_name: 'Ada',
    last_name: `Lovelace ${count}`,
    email: `ada.${count}@example.com`,
    phone: '+44 (20) 7946 0958',
    linkedin: 'in/ada',
    company: 'Analytical Engines',
    paid_solution: 'travel',
    custom_solution: '',
    team_size: '3-10',
    reason: 'To think.\nWithout a screen.',
    consent: true,
    ...changes,
  }
}

let count = 0

/** The form's parts, as a visitor finds them. */
export function getForm(page: Page) {
  const form = {
    firstName: page.getByLabel('First name'),
    lastName: page.getByLabel('Last name'),
    email: page.getByLabel('Email'),
    phone: page.getByLabel('Phone'),
    linkedin: page.getByLabel('LinkedIn'),
    company: page.getByLabel('Company'),
    paidSolution: page.getByRole('radiogroup', { name: 'Have you ever paid' }),
    customRadio: page.getByRole('radio', { name: 'Custom' }),
    customSolution: page.getByPlaceholder('Press enter to add custom option'),
    teamSize: page.getByRole('radiogroup', { name: 'How many full time team members' }),
    reason: page.getByLabel('Why do you want to attend this retreat?'),
    consent: page.getByLabel('I consent to receiving communications from this team'),
    button: page.getByRole('button'),
    success: page.getByRole('heading', { name: 'Application Submitted Successfully!' }),
    failure: page.getByRole('heading', { name: 'Submission Failed' }),

    /** The error message of a field. */
    problem: (column: keyof Application) => page.locator(`#${column}-problem`),

    async fill(application: Application) {
      await form.firstName.fill(application.first_name)
      await form.lastName.fill(application.last_name)
      await form.email.fill(application.email)
      await form.phone.fill(application.phone)
      await form.linkedin.fill(application.linkedin)
      await form.company.fill(application.company)
      if (application.custom_solution) await form.customSolution.fill(application.custom_solution)
      if (application.paid_solution) {
        await form.paidSolution.locator(`[value="${application.paid_solution}"]`).check()
      }
      if (application.team_size) await form.teamSize.locator(`[value="${application.team_size}"]`).check()
      await form.reason.fill(application.reason)
      await form.consent.setChecked(application.consent)
    },

    /** The form's values, as they would be sent. */
    answers: () =>
      page
        .locator('form')
        .evaluate(
          (element: HTMLFormElement) => Object.fromEntries(new FormData(element)) as Record<string, string>,
        ),
  }
  return form
}

/** Runs in the page: the value of a CSS property of an element. */
export const style = (element: Element, name: string): string =>
  getComputedStyle(element).getPropertyValue(name)
