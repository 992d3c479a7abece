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
import { Scene } from './Scene.tsx'
import sceneStyle from './scene.css?inline'

/** The data of the applicants' page, except its parts of the look. */
export type OwnApplyData = Omit<ApplyData, 'success' | 'privacyUrl'>

/** What is seen of the applicants' page. */
export function applyPage(given: OwnApplyData, look: Look): PageParts {
  const { takesNativePosts, door } = given
  const { privacyUrl } = look
  // A static document always has the style, because the door may close after the build.
  const mayShowDoor = door !== undefined || !takesNativePosts
  return {
    accent: look.accent,
    scene: <Scene look={look} />,
    sceneStyle: landscape + sceneStyle + ownWordsStyle(look),
    content: <ApplicationForm {...given} success={ownWords('success', look)} privacyUrl={privacyUrl} />,
    contentStyle:
      fieldStyle +
      formStyle +
      (mayShowDoor ? doorStyle : '') +
      (privacyUrl === undefined ? '' : privacyStyle),
  }
}
