import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test, vi } from 'vitest'

import type { PageWords } from '../../src/application/page-words.ts'
import { defaultLook } from '../../src/design/look.ts'
import { renderApply } from '../../src/pages/apply/render.tsx'
import { lookOf } from '../../src/pages/look.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { dom } from '../support/dom.ts'
import { deskScreensForTestFile, type OpenedDesk } from '../support/opened-desk.ts'

const desk = deskScreensForTestFile()

const field = (name: string | RegExp) => screen.findByLabelText<HTMLInputElement>(name)
const setPage = (args: object) => desk.bob.client.rpc('desk_set_page', args).throwOnError()
const storedPage = async () => {
  const [row] = await desk.sql<[{ words: PageWords }]>`select private.page_shown() as words`
  return row.words
}
/** The document of the preview, once it has the page. */
const preview = () =>
  waitFor(() => {
    const page = document.querySelector('iframe')?.contentDocument
    expect(page?.querySelector('main > *')).toBeTruthy()
    return page as Document
  })
/** Chooses what the preview shows. */
async function choose({ user }: OpenedDesk, name: string, option: string) {
  await user.selectOptions(await screen.findByRole('combobox', { name }), option)
}
/** The elements of a body with their attributes in one order, without scripts, styles and what is shown without scripts. */
function elementsOf(body: Element) {
  const copy = body.cloneNode(true) as Element
  for (const each of copy.querySelectorAll('script, style, noscript, template')) each.remove()
  for (const each of copy.querySelectorAll('*')) {
    const attributes = [...each.attributes].toSorted((one, other) => (one.name < other.name ? -1 : 1))
    for (const { name } of attributes) each.removeAttribute(name)
    for (const { name, value } of attributes) each.setAttribute(name, value)
  }
  // Text that changes is not separated by comments here, and React does not write this attribute in a browser.
  const html = copy.innerHTML.replaceAll(/<!--.*?-->|\s+autofocus=""/g, '')
  return html.replaceAll(/\s+/g, ' ').replaceAll('> <', '><').trim()
}

test('what is typed is shown at once, and after saving the page says it', async () => {
  const opened = await desk.open('/page')
  const { fill, press, announced } = opened
  await fill(await field('Title'), 'Langsam')
  await fill(await field('About the retreat'), 'Bring a pen.\n\nNo phones.')
  await waitFor(async () => expect((await preview()).querySelector('h1')?.textContent).toBe('Langsam'))
  await press('Save')
  await announced('Saved.')
  expect(await storedPage()).toEqual({ title: 'Langsam', about: 'Bring a pen.\n\nNo phones.' })
  expect(document.title).toBe('Page · Langsam')
  expect(document.querySelector('.desk-brand')?.textContent).toBe('Langsam')
  expect(screen.queryByRole('button', { name: 'Discard' })).toBeNull()
})

test.for([
  ['Form', { outcome: null }],
  ['Thanks', { outcome: { status: 'success' } }],
  ['Closed door', { outcome: null, door: 'See you in May.' }],
] as const)('the preview “%s” has the elements of the page that a server sends', async ([name, given]) => {
  const texts = {
    title: 'Langsam und בשקט',
    tagline: 'Three days',
    success: 'Danke!',
    privacy_url: 'https://example.org/privacy',
    cost: 'Nothing',
    about: 'Write to ada@example.org.',
  }
  await setPage({ version: 0, texts, shown: {} })
  await desk.sql`update private.door set sentence = 'See you in May.'`
  await desk.sql`update private.editions set starts_on = '2027-06-12', ends_on = '2027-06-15', venue = 'Hof'`
  const { html } = renderApply(
    { backend: { url: null, anonKey: 'key' }, takesNativePosts: true, ...given },
    { siteUrl: undefined, look: lookOf({}, await storedPage()), policyInDocument: false },
  )
  const served = new dom.DOMParser().parseFromString(html, 'text/html') as unknown as Document
  const opened = await desk.open('/page')
  await preview()
  await choose(opened, 'Shows', name)
  await waitFor(async () => expect(elementsOf((await preview()).body)).toBe(elementsOf(served.body)))
  expect(elementsOf(served.body)).toContain('Langsam')
})

test('the preview shows the invitation of an accepted person', async () => {
  const opened = await desk.open('/page')
  await preview()
  await choose(opened, 'Shows', 'RSVP page')
  await waitFor(async () =>
    expect((await preview()).body.textContent).toContain('Hello Ada, your place is kept until'),
  )
  const buttons = [...(await preview()).querySelectorAll('button')].map(({ textContent }) => textContent)
  expect(buttons).toEqual(['I am coming', 'I cannot come'])
})

// break: preview-runs-scripts
test('nothing in the preview gets the focus, and no script runs in it', async () => {
  await desk.open('/page')
  expect((await preview()).body.hasAttribute('inert')).toBe(true)
  expect(document.querySelector('iframe')?.getAttribute('sandbox')).toBe('allow-same-origin')
})

test('a fact is shown only if it is ticked', async () => {
  await desk.sql`update private.editions set starts_on = '2027-06-12', ends_on = '2027-06-15', venue = 'Hof Sonnenau'`
  const { press, announced, user } = await desk.open('/page')
  await screen.findByRole('checkbox', { name: 'When: 12–15 June 2027' })
  await screen.findByRole('checkbox', { name: 'Apply by: not set' })
  await user.click(await screen.findByRole('checkbox', { name: 'Where: Hof Sonnenau' }))
  await press('Save')
  await announced('Saved.')
  expect(await storedPage()).toEqual({ starts_on: '2027-06-12', ends_on: '2027-06-15' })
})

test('a colour that is too light is refused, with a darker one to use', async () => {
  const { fill, press, announced } = await desk.open('/page')
  await fill(await field('Accent colour'), 'FFEE99')
  expect((await screen.findByRole('alert')).textContent).toBe(
    'Too light to read: its contrast with the page is 1.0 to 1. It needs at least 4.5 to 1.',
  )
  await press('Save')
  expect(await storedPage()).toEqual({})
  await press('Use #7a6600')
  expect(document.activeElement).toBe(await field('Accent colour'))
  expect(screen.queryByRole('alert')).toBeNull()
  await press('Save')
  await announced('Saved.')
  expect(await storedPage()).toEqual({ accent: '#7a6600' })
})

test('a text that is no colour is refused', async () => {
  const { fill, press } = await desk.open('/page')
  await fill(await field('Accent colour'), 'red')
  expect((await screen.findByRole('alert')).textContent).toBe(
    'Write six hexadecimal digits, such as #7a1f3d.',
  )
  await press('Save')
  expect(await storedPage()).toEqual({})
})

test('what the operator has set is shown, and cannot be changed', async () => {
  await setPage({ version: 0, texts: { title: 'Ours', badge: 'Also ours' }, shown: {} })
  await desk.open('/page', { operator: { title: 'Theirs', accent: '#7a0019' } })
  const title = await field('Title')
  expect([title.value, title.readOnly]).toEqual(['Theirs', true])
  expect((await field('Accent colour')).readOnly).toBe(true)
  expect((await field('Badge')).value).toBe('Also ours')
  expect(screen.getAllByText('Set by your operator.')).toHaveLength(2)
  expect((await preview()).querySelector('h1')?.textContent).toBe('Theirs')
})

test('of two simultaneous changes the later is refused, keeps its text, and can be saved anyway', async () => {
  const { fill, press, announced } = await desk.open('/page')
  await fill(await field('Title'), 'Mine')
  await setPage({ version: 0, texts: { title: 'Theirs' }, shown: {} })
  await press('Save')
  await screen.findByText(
    /^bob@example\.org changed the page meanwhile, .*\. Your changes are not saved\. Saving now replaces theirs\.$/,
  )
  expect((await field('Title')).value).toBe('Mine')
  await press('Save anyway')
  await announced('Saved.')
  expect(await storedPage()).toEqual({ title: 'Mine' })
})

test('text that is not saved yet survives another screen', async () => {
  const { fill, goTo } = await desk.open('/page')
  await fill(await field('Title'), 'Langsam')
  goTo('/door')
  await screen.findByRole('heading', { name: 'Door' })
  goTo('/page')
  expect((await field('Title')).value).toBe('Langsam')
})

test('the last change has its author and the former texts, which can be copied', async () => {
  await setPage({ version: 0, texts: { tagline: 'Slow days' }, shown: {} })
  await setPage({ version: 1, texts: { title: 'Langsam' }, shown: { venue: false } })
  const { press, announced } = await desk.open('/page')
  const last = within(await screen.findByRole('region', { name: 'Last change' }))
  expect(last.getByText(/^Changed by bob@example\.org, /).textContent).toMatch(/20\d\d, \d\d:\d\d\. Before/)
  expect(last.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'Title: the default',
    'Tagline: Slow daysCopy',
    'Where: shown',
  ])
  const copied: string[] = []
  Object.defineProperty(navigator, 'clipboard', {
    configurable: true,
    value: { writeText: async (text: string) => void copied.push(text) },
  })
  await press('Copy: former tagline')
  await announced('Copied.')
  expect(copied).toEqual(['Slow days'])
})

test('near the limit of a text, the field says how many characters are left', async () => {
  const { fill } = await desk.open('/page')
  const title = await field('Title')
  expect(screen.queryByText(/characters? left/)).toBeNull()
  await fill(title, 'x'.repeat(59))
  await screen.findByText(`If blank: “${defaultLook.title}” 1 character left.`)
})

test('the desk of a page that is a build saves the file that the build reads', async () => {
  await setPage({ version: 0, texts: { title: 'Langsam' }, shown: {} })
  const createFile = vi.spyOn(URL, 'createObjectURL')
  const saved: string[] = []
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    saved.push(this.download)
  })
  atTestEnd(() => [createFile, click].forEach((spy) => spy.mockRestore()))
  const { press, fill } = await desk.open('/page', { backendUrl: desk.origin })
  await press('Download page.json')
  expect(saved).toEqual(['page.json'])
  const [[file] = []] = createFile.mock.calls
  expect(JSON.parse(await (file as Blob).text())).toEqual({ title: 'Langsam' })
  await fill(await field('Title'), 'Slow')
  await press('Download page.json')
  expect(saved).toHaveLength(1)
})

test('the desk of a server has no file to save', async () => {
  await desk.open('/page')
  await preview()
  expect(screen.queryByRole('button', { name: /Download/ })).toBeNull()
})
