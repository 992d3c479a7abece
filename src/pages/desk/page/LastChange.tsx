import { useRef } from 'react'

import type { PageText } from '../../../application/page-words.ts'
import type { GeneralHistoryEntry } from '../../../client/desk/retreat.ts'
import { CopyButton, selectToCopy } from '../kit/CopyButton.tsx'
import { momentOf } from '../kit/format.ts'
import { factNames, textNames } from './page.ts'

/** Who changed the page last, when, and what it said before. */
export function LastChange({ last }: { last: Extract<GeneralHistoryEntry, { kind: 'page' }> }) {
  const { at, author, detail } = last
  const texts = (Object.keys(textNames) as PageText[]).filter((name) => name in detail)
  const facts = (Object.keys(factNames) as (keyof typeof factNames)[]).filter(
    (name) => `shows_${name}` in detail,
  )
  return (
    <section className="layout-sheet" aria-labelledby="page-last">
      <h2 id="page-last">Last change</h2>
      <p>
        Changed by {author}, <time dateTime={at}>{momentOf(at)}</time>. Before that:
      </p>
      <ul className="layout-lines">
        {texts.map((name) => (
          <FormerText key={name} name={textNames[name]} text={String(detail[name])} />
        ))}
        {facts.map((name) => (
          <li key={name}>
            {factNames[name]}: {detail[`shows_${name}`] ? 'shown' : 'not shown'}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A former text, with a button that copies it. */
function FormerText({ name, text }: { name: string; text: string }) {
  const shown = useRef<HTMLElement>(null)
  if (text === '') return <li>{name}: the default</li>
  const onCopied = (isCopied: boolean) => {
    if (!isCopied) selectToCopy(shown.current)
  }
  return (
    <li className="layout-row">
      <span className="page-former">
        {name}: <bdi ref={shown}>{text}</bdi>
      </span>
      <CopyButton about={`former ${name.toLowerCase()}`} {...{ text, onCopied }} />
    </li>
  )
}
