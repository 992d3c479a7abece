import { script } from 'virtual:page-script/desk'

import fields from '../../design/fields.css?inline'
import type { Look } from '../../design/look.ts'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import accountStyle from './account/account.css?inline'
import applicationStyle from './applications/application.css?inline'
import besideStyle from './applications/beside.css?inline'
import listStyle from './applications/list.css?inline'
import plotsStyle from './applications/plots.css?inline'
import rowsStyle from './applications/rows.css?inline'
import { blankListId } from './applications/early-list.tsx'
import { BlankList } from './BlankList.tsx'
import decisionsStyle from './decisions/decisions.css?inline'
import type { DeskData } from './desk-data.ts'
import deskStyle from './desk.css?inline'
import doorStyle from './door/door.css?inline'
import draftsStyle from './letters/drafts.css?inline'
import editionsStyle from './editions/editions.css?inline'
import firstStepsStyle from './first-steps/first-steps.css?inline'
import historyStyle from './history/history.css?inline'
import announceStyle from './kit/announce.css?inline'
import { SiteTitle, titleOf } from './kit/site-title.tsx'
import controls from './kit/controls.css?inline'
import layout from './kit/layout.css?inline'
import lettersStyle from './letters/letters.css?inline'
import pageStyle from './page/page.css?inline'
import placesStyle from './places/places.css?inline'
import printStyle from './print.css?inline'
import personStyle from './person/person.css?inline'
import guestsStyle from './questions/guests.css?inline'
import questionsStyle from './questions/questions.css?inline'
import sessionStyle from './session/session.css?inline'
import { Opening } from './session/Opening.tsx'
import { SignIn } from './session/SignIn.tsx'
import templatesStyle from './templates/templates.css?inline'
// oxlint-disable-next-line import/default -- made by the build from that module
import inlineScript from './load.ts?script'

/** The options of the desk's document. */
export interface DeskOptions {
  look: Look
  /** The path from the document to the site's root. */
  root: './' | '../'
  /** Whether the document includes its content security policy, because no server sends it as a header. */
  policyInDocument: boolean
}

const screenStyles = [
  announceStyle,
  decisionsStyle,
  listStyle,
  rowsStyle,
  plotsStyle,
  applicationStyle,
  besideStyle,
  lettersStyle,
  draftsStyle,
  templatesStyle,
  placesStyle,
  firstStepsStyle,
  questionsStyle,
  guestsStyle,
  personStyle,
  editionsStyle,
  doorStyle,
  pageStyle,
  historyStyle,
  accountStyle,
]

/** The server renders the sign-in form but never submits it. */
const never = () => Promise.reject(new Error('the sign-in is the browser’s'))

/**
 * Renders the organisers' page.
 *
 * @param given The data that the page's script reads, except the title, which is part of the look.
 * @returns The document and its policy.
 */
export function renderDesk(
  given: Omit<DeskData, 'title'>,
  { look, root, policyInDocument }: DeskOptions,
): RenderedDocument {
  const { title, accent } = look
  const data: DeskData = { ...given, title }
  const page = {
    title: titleOf('Applications', title),
    accent,
    description: 'The desk on which organisers review applications.',
    preview: (
      <>
        <meta name="robots" content="noindex" />
        {/* Without this, browsers would first paint empty frames, which takes time. */}
        <link rel="expect" href="#opening" blocking="render" />
      </>
    ),
    root,
    scene: null,
    sceneStyle: '',
    content: (
      <SiteTitle value={title}>
        <template id="sign-in">
          <SignIn auth={never} notice={undefined} />
        </template>
        {/* Last: when this is parsed, the inline script can show the sign-in form above. */}
        <Opening>
          <noscript>
            <p>The desk needs JavaScript. Please switch it on for this page, and reload.</p>
          </noscript>
        </Opening>
      </SiteTitle>
    ),
    contentStyle: `${fields}${controls}${layout}${deskStyle}@layer desk{${sessionStyle}}`,
    later: {
      content: (
        <SiteTitle value={title}>
          <template id={blankListId}>
            <BlankList version={data.version} />
          </template>
        </SiteTitle>
      ),
      style: `@layer desk{${screenStyles.join('')}}${printStyle}`,
    },
    data,
    script,
    inlineScript,
    isScriptFirst: true,
    calls: [data.backend.url],
    postsForms: false,
  }
  return renderDocument(page, policyInDocument)
}
