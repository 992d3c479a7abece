import { fireEvent, screen, waitFor } from '@testing-library/dom'
import { userEvent } from '@testing-library/user-event'
import { beforeAll, expect, test } from 'vitest'

import { textFields } from '../../src/application/fields.ts'
import type { Application } from '../../src/application/application.ts'
import type { ScriptData } from '../../src/pages/apply/apply-data.ts'
import { takeOver } from '../../src/pages/apply/take-over.tsx'
import type { DeskData } from '../../src/pages/desk/desk-data.ts'
import { createDeskPage } from '../../src/pages/desk/desk-page.tsx'
import { SignIn } from '../../src/pages/desk/Desk.tsx'
import { hydrateSignIn } from '../../src/pages/desk/session/hydrate-sign-in.ts'
import { readPageData } from '../../src/pages/page-data.ts'
import { version } from '../../src/settings/version.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { recordProblems } from '../support/console.ts'
import { dom } from '../support/dom.ts'
import { anApplication } from '../support/form.ts'
import { changeAsOthersDo } from '../support/translation.ts'
import { startSignIn, type SignInServer } from '../support/sign-in-server.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

const user = userEvent.setup({ document, delay: null, pointerEventsCheck: 0 })

/** Opens a document of the server without its scripts. A problem in the console fails the test. */
async function open(path: string) {
  const html = await (await fetch(`${server.origin}${path}`)).text()
  dom.happyDOM.setURL(`${server.origin}${path}`)
  const [data = ''] = /<script type="application\/json".*?<\/script>/s.exec(html) ?? []
  const [main = ''] = /<main.*<\/main>/s.exec(html) ?? []
  document.body.innerHTML = data + main
  recordProblems()
}

/** Takes over the form, as the page's script does. */
function takeOverForm() {
  const [form] = document.forms
  if (!form) throw new Error('There is no form.')
  atTestEnd(takeOver(form, readPageData() as ScriptData))
}

async function fill(application: Application) {
  const type = (label: string, value: string) =>
    fireEvent.input(screen.getByLabelText(new RegExp(`^${label}`)), { target: { value } })
  for (const { name, label } of textFields) type(label, application[name])
  type('Why do you want', application.reason)
  await user.click(screen.getByRole('checkbox'))
}

const stored = async (email: string) =>
  (await server.database.owner`select from public.retreat_applications where email = ${email}`).count

/** What a person sees of the fields. */
const fields = () =>
  [...document.querySelectorAll<HTMLInputElement>('input, textarea')].map((element) => ({
    element,
    value: element.value,
    checked: element.checked,
  }))

test.each([
  ['as the server rendered it', () => {}],
  ['that a translation and an extension have changed', changeAsOthersDo],
])('the page’s script takes over a form %s without touching its fields, and sends it', async (_, change) => {
  await open('/')
  const application = anApplication()
  change()
  await fill(application)
  const reason = screen.getByRole<HTMLTextAreaElement>('textbox', { name: /^Why do you want/ })
  reason.focus()
  reason.setSelectionRange(3, 5)
  const before = fields()
  takeOverForm()
  expect(fields()).toEqual(before)
  expect(document.activeElement).toBe(reason)
  expect([reason.selectionStart, reason.selectionEnd]).toEqual([3, 5])

  await user.click(screen.getByRole('button', { name: 'Send Details!' }))
  await screen.findByText('Application Submitted Successfully!')
  expect(await stored(application.email)).toBe(1)
  expect(
    fields().filter(
      ({ element, value, checked }) =>
        element.required && ((value !== '' && element.type !== 'checkbox') || checked),
    ),
  ).toEqual([])

  // The translation also changes what is shown later, and the button.
  change()
  const next = anApplication()
  await fill(next)
  await user.click(screen.getByRole('button', { name: 'Send Details!' }))
  await waitFor(async () => expect(await stored(next.email)).toBe(1))
  await screen.findByText('Application Submitted Successfully!')
})

test.each([
  ['as the server rendered it', () => {}],
  ['that a translation and an extension have changed', changeAsOthersDo],
])('the desk takes over a sign-in form %s, with its text, focus and press', async (_, change) => {
  await open('/desk')
  expect((readPageData() as DeskData).version).toBe(version)
  // As the inline script of the desk does.
  const page = document.getElementById('page')
  const signIn = document.querySelector<HTMLTemplateElement>('#sign-in')
  if (!page || !signIn) throw new Error('There is no sign-in form.')
  page.replaceChildren(signIn.content)
  change()
  await user.click(screen.getByLabelText('Email'))
  await user.paste('stranger@example.org')
  window.heldPress = screen.getByRole('button', { name: 'Use a password' })
  // As `main.tsx` does.
  await SignIn.load()
  const root = hydrateSignIn(page, createDeskPage(readPageData() as DeskData).desk)
  atTestEnd(() => root.unmount())
  const password = await screen.findByLabelText('Password')
  expect(screen.getByLabelText<HTMLInputElement>('Email').value).toBe('stranger@example.org')
  await waitFor(() => expect(document.activeElement).toBe(password))
})
