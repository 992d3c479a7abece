import { useEffect, useLayoutEffect, useState, type KeyboardEvent } from 'react'
import { createPortal } from 'react-dom'

import { closedSentence } from '../../../application/limits.ts'
import type { PageSettings } from '../../../client/desk/page.ts'
import type { Invitation } from '../../../client/invitation.ts'
import type { Look } from '../../../design/look.ts'
import { answerPage } from '../../answer/answer-page.tsx'
import { rsvpLabels } from '../../answer/copy.ts'
import { button } from '../../answer/elements.ts'
import { contactOf, headingOf, sentencesOf } from '../../answer/sentences.ts'
import { applyPage } from '../../apply/apply-page.tsx'
import { stylesOf, type PageParts } from '../../page-parts.ts'
import { useDoor } from '../door/useDoor.ts'
import { Choice } from '../kit/Field.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useMedia } from '../kit/useMedia.ts'

const views = [
  ['form', 'Form'],
  ['thanks', 'Thanks'],
  ['closed', 'Closed door'],
  ['rsvp', 'RSVP page'],
] as const
const schemes = [
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const
const sizes = [
  ['phone', 'Phone'],
  ['wide', 'Wide'],
] as const

type View = (typeof views)[number][0]
type Scheme = (typeof schemes)[number][0]

/**
 * The page as visitors see it, in one of its states, colour schemes and windows.
 *
 * @param props.retreat The newest retreat, with which the RSVP page is shown.
 */
export function PagePreview({ look, retreat }: { look: Look; retreat: PageSettings['facts'] }) {
  const [view, setView] = useState<View>('form')
  const ownScheme = useMedia('(prefers-color-scheme: dark)') ? 'dark' : 'light'
  const [scheme = ownScheme, setScheme] = useState<Scheme>()
  const [size, setSize] = useState<(typeof sizes)[number][0]>('phone')
  const { data: door } = useDoor()
  return (
    <Sheet title="Preview" className="page-preview">
      <div className="page-choices">
        <Choice label="Shows" options={views} value={view} onChoose={setView} />
        <Choice label="Colours" options={schemes} value={scheme} onChoose={setScheme} />
        <Choice label="Window" options={sizes} value={size} onChoose={setSize} />
      </div>
      <div className="page-stage" data-size={size}>
        <PreviewFrame
          parts={partsOf(view, look, door?.sentence)}
          scheme={scheme}
          state={`${view} ${size}`}
          fill={view === 'rsvp' ? (page) => showExample(page, look.title, retreat) : undefined}
        />
      </div>
    </Sheet>
  )
}

/** The parts of the page in one of its states. */
function partsOf(view: View, look: Look, sentence: string | undefined) {
  if (view === 'rsvp') return answerPage(look)
  const outcome = view === 'thanks' ? ({ status: 'success' } as const) : null
  const door = view === 'closed' ? sentence || closedSentence : undefined
  return applyPage({ backend: { url: null, anonKey: '' }, takesNativePosts: true, outcome, door }, look)
}

/** Milliseconds from now to the deadline of the example. */
const exampleDuration = 10 * 86_400_000

/** Shows an invitation on the answer page, as its script does. */
function showExample(page: Document, title: string, retreat: PageSettings['facts']) {
  const until = new Date(Date.now() + exampleDuration).toISOString().slice(0, '2026-12-31'.length)
  const { starts_on, ends_on, venue = '' } = retreat
  const dated = starts_on && ends_on ? { uid: '', sequence: 0, name: '', starts_on, ends_on, venue } : null
  const invitation: Invitation = { state: 'open', first_name: 'Ada', until, answer: null, retreat: dated }
  page.querySelector('h1')?.replaceChildren(...headingOf(invitation, title))
  page.getElementById('place')?.replaceChildren(
    ...sentencesOf(invitation, '', title),
    button(rsvpLabels.coming, '', () => {}),
    button(rsvpLabels['not coming'], 'second', () => {}),
    ...contactOf(invitation),
  )
}

/** The document of the frame. Nothing in it gets the focus or a click. */
const blankDocument = '<!doctype html><html lang="en"><head></head><body inert></body></html>'

/** The distances that keys scroll the frame by, in pixels. */
const steps: Record<string, number> = {
  ArrowDown: 60,
  ArrowUp: -60,
  PageDown: 400,
  PageUp: -400,
  Home: -1_000_000,
  End: 1_000_000,
}

interface PreviewFrameProps {
  parts: PageParts
  scheme: Scheme
  /** When this changes, the page begins again, such as with the animation of the thanks. */
  state: string
  /** Adds what a script adds to the page. */
  fill: ((page: Document) => void) | undefined
}

/**
 * A document of its own with the parts of a page. It inherits the desk's policy, and the sandbox runs no script in it. The
 * doctype gives it the layout of the real page.
 */
function PreviewFrame({ parts, scheme, state, fill }: PreviewFrameProps) {
  const [page, setPage] = useState<Document | null>(null)
  const style = inScheme(stylesOf(parts).join(''), scheme)
  useLayoutEffect(() => applyStyle(page, style), [page, style])
  const scroll = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined || !page?.defaultView) return
    event.preventDefault()
    page.defaultView.scrollBy(0, step)
  }
  return (
    // Keys scroll it, since nothing in the frame gets the focus.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions
    <section className="page-frame" aria-label="The page" tabIndex={0} onKeyDown={scroll}>
      <iframe
        title="Preview of the page"
        sandbox="allow-same-origin"
        srcDoc={blankDocument}
        tabIndex={-1}
        onLoad={({ currentTarget }) => setPage(currentTarget.contentDocument)}
      />
      {page && createPortal(<PageContent key={state} {...{ page, parts, fill }} />, page.body)}
    </section>
  )
}

interface PageContentProps extends Pick<PreviewFrameProps, 'parts' | 'fill'> {
  page: Document
}

/** The elements of a page in the document of the frame. */
function PageContent({ page, parts, fill }: PageContentProps) {
  useLayoutEffect(() => fill?.(page))
  // After the effects of the page's own components, one of which scrolls.
  useEffect(() => scrollToThanks(page), [page])
  return (
    <>
      {parts.scene}
      <main id="page">{parts.content}</main>
    </>
  )
}

/** Applies a style to a document by a constructed style sheet, for which the policy needs no hash. */
function applyStyle(page: Document | null, style: string) {
  if (!page?.defaultView) return
  const sheet = new page.defaultView.CSSStyleSheet()
  sheet.replaceSync(style)
  page.adoptedStyleSheets = [sheet]
}

/** Scrolls a document to the thanks, or to its beginning if it has none. */
function scrollToThanks(page: Document) {
  const view = page.defaultView
  const top = page.getElementById('outcome-title')?.parentElement?.getBoundingClientRect().top
  view?.scrollTo(0, top === undefined ? 0 : view.scrollY + top - margin)
}

/** The pixels above the thanks. */
const margin = 24

/** The style as browsers apply it in this colour scheme. */
function inScheme(style: string, scheme: Scheme) {
  const condition = scheme === 'dark' ? '(min-width:0)' : '(max-width:0)'
  return style
    .replaceAll(/\(prefers-color-scheme:\s*dark\)/g, condition)
    .replaceAll('color-scheme:light dark', `color-scheme:${scheme}`)
}
