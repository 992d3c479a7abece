import fieldStyle from '../../design/fields.css?inline'
import landscape from '../../design/landscape.css?inline'
import { ownWords, type Look } from '../../design/look.ts'
import type { PageParts } from '../page-parts.ts'
import type { ApplyData } from './apply-data.ts'
import { ApplicationForm } from './ApplicationForm.tsx'
import doorStyle from './door.css?inline'
import formStyle from './form.css?inline'
import { ownWordsStyle } from './own-words-style.ts'
import privacyStyle from './privacy.css?inline'
import retreatStyle from './retreat.css?inline'
import { Scene } from './Scene.tsx'
import sceneStyle from './scene.css?inline'

/** The data of the applicants' page, except its parts of the look. */
export type OwnApplyData = Omit<ApplyData, 'success' | 'privacyUrl' | 'privacyLabel'>

/** What is seen of the applicants' page. */
export function applyPage(given: OwnApplyData, look: Look): PageParts {
  const { door } = given
  const { privacyUrl, privacyLabel, facts, about } = look
  return {
    accent: look.accent,
    scene: <Scene {...{ look, door }} />,
    sceneStyle:
      landscape +
      sceneStyle +
      ownWordsStyle(look) +
      (facts.length > 0 || about ? retreatStyle : '') +
      (door === undefined ? '' : doorStyle),
    content: (
      <ApplicationForm {...given} success={ownWords('success', look)} {...{ privacyUrl, privacyLabel }} />
    ),
    contentStyle: fieldStyle + formStyle + (privacyUrl === undefined ? '' : privacyStyle),
  }
}
