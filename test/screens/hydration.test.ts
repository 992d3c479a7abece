import { screen, waitFor } from '@testing-library/dom'
import { userEvent } from '@testing-library/user-event'
import { createElement, StrictMode, type ReactNode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { beforeAll, expect, test } from 'vitest'

import { textFields } from '../../src/application/fields.ts'
import { ApplicationForm } from '../../src/pages/apply/ApplicationForm.tsx'
import type { ApplyData } from '../../src/pages/apply/apply-data.ts'
import type { DeskData } from '../../src/pages/desk/desk-data.ts'
import { createDeskPage } from '../../src/pages/desk/desk-page.tsx'
import { readPageData } from '../../src/pages/page-data.ts'
import { version } from '../../src/settings/version.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { recordProblems } from '../support/console.ts'
import { dom } from '../support/dom.ts'
import { anApplication } from '../support/form.ts'
import { startSignIn, type SignInServer } from '../support/sign-in.ts'

let server: SignInServer

beforeAll(async () => {
  server = await startSignIn()
})

/** Opens a document of the server, and hydrates it in StrictMode. A mismatch is an error in the console, which fails the test. */
async function hydrate(path: string, contentOf: () => ReactNode) {
  const html = await (await fetch(`${server.origin}${path}`)).text()
  dom.happyDOM.setURL(`${server.origin}${path}`)
  const [data = ''] = /<script type="application\/json".*?<\/script>/s.exec(html) ?? []
  const [main = ''] = /<main.*<\/main>/s.exec(html) ?? []
  document.body.innerHTML = data + main
  // As the inline script of the desk does.
  const page = document.getElementById('page')
  const signIn = document.querySelector<HTMLTemplateElement>('#sign-in')
  if (signIn) page?.replaceChildren(signIn.content)
  recordProblems()
  const root = hydrateRoot(page ?? document.body, contentOf())
  atTestEnd(() => root.unmount())
}

test('the form hydrates as the server rendered it, and sends an application once', async () => {
  await hydrate('/', () =>
    createElement(
      StrictMode,
      null,
      createElement(ApplicationForm, { ...(readPageData() as ApplyData), hasFailed: false }),
    ),
  )
  const application = anApplication()
  const user = userEvent.setup({ document, delay: null, pointerEventsCheck: 0 })
  for (const { name, label } of textFields) {
    await user.click(screen.getByLabelText(new RegExp(`^${label}`)))
    await user.paste(application[name])
  }
  await user.click(screen.getByLabelText(/^Why do you want/))
  await user.paste(application.reason)
  await user.click(screen.getByRole('checkbox'))
  await user.click(screen.getByRole('button', { name: 'Send Details!' }))
  await screen.findByText('Application Submitted Successfully!')
  await waitFor(async () =>
    expect(await server.database.owner`select email from public.retreat_applications`).toEqual([
      { email: application.email },
    ]),
  )
})

test("the desk's sign-in hydrates as the server rendered it", async () => {
  await hydrate('/desk', () => createDeskPage(readPageData() as DeskData).desk)
  expect((readPageData() as DeskData).version).toBe(version)
  const user = userEvent.setup({ document, delay: null, pointerEventsCheck: 0 })
  await user.type(screen.getByLabelText('Email'), 'stranger@example.org')
  await user.click(screen.getByRole('button', { name: 'Send code' }))
  expect((await screen.findByLabelText('Code')).tagName).toBe('INPUT')
})
