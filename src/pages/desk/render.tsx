import { script } from 'virtual:page-script/desk'

import { renderDocument, type RenderedDocument } from '../document.tsx'
import type { DeskData } from './desk-data.ts'
import { Opening } from './Opening.tsx'
import applicationStyle from './application/application.css?inline'
import deskStyle from './desk.css?inline'
import doorStyle from './door/door.css?inline'
import judgingStyle from './judging/judging.css?inline'
import lettersStyle from './letters/letters.css?inline'
import listStyle from './list/list.css?inline'
import plotsStyle from './list/plots.css?inline'
import sessionStyle from './session/session.css?inline'
// oxlint-disable-next-line import/default -- made by the build from that module
import inlineScript from './load.ts?script'

export type { DeskData } from './desk-data.ts'

export interface DeskOptions {
  /** Where the site's root is, as the document sees it. */
  root: './' | '../'
  /** Whether the document has to carry its policy itself, because no server sends it as a header. */
  policyInDocument: boolean
}

/** Renders the organisers' page. */
export function renderDesk(data: DeskData, { root, policyInDocument }: DeskOptions): RenderedDocument {
  const page = {
    title: 'Applications · Unplugged.',
    description: 'Where organisers review applications.',
    preview: <meta name="robots" content="noindex" />,
    root,
    scene: null,
    sceneStyle: '',
    content: <Opening />,
    contentStyle:
      deskStyle +
      sessionStyle +
      judgingStyle +
      listStyle +
      plotsStyle +
      applicationStyle +
      doorStyle +
      lettersStyle,
    data,
    script,
    inlineScript,
    calls: [data.backend.url],
    postsForms: false,
  }
  return renderDocument(page, policyInDocument)
}
