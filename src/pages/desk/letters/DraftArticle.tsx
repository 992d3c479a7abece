import type { ComponentProps } from 'react'

import { ApplicationLink } from '../data/links.tsx'
import { nameOfLetter } from './letters.ts'
import type { Recipient } from './draft-changes.ts'

interface DraftArticleProps extends ComponentProps<'article'> {
  recipient: Recipient
  /** Whether the draft is shown on the screen of its application. Elsewhere the heading is the applicant's name. */
  isAtApplication?: boolean | undefined
  isSheet?: boolean | undefined
  heading: string
}

/** The frame of a draft, with its heading. */
export function DraftArticle(props: DraftArticleProps) {
  const {
    recipient,
    isAtApplication = false,
    isSheet = !isAtApplication,
    heading,
    children,
    ...article
  } = props
  const id = `draft-${recipient.id}`
  return (
    <article
      className={isSheet ? 'drafts-draft layout-sheet' : 'drafts-draft'}
      aria-labelledby={id}
      {...article}
    >
      {isAtApplication ? (
        <h3 id={id} tabIndex={-1}>
          {heading}
        </h3>
      ) : (
        <h2 id={id}>
          <ApplicationLink id={recipient.application}>{nameOfLetter(recipient)}</ApplicationLink>
        </h2>
      )}
      {children}
    </article>
  )
}
