import { Fragment, useEffect, useEffectEvent, useState, type ReactNode } from 'react'

import type { Letter } from '../../../client/desk/letters.ts'
import { Tick } from '../kit/Tick.tsx'
import { focusOn } from '../kit/focus.ts'
import { countOf, formatNumber } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { useMedia } from '../kit/useMedia.ts'
import { useKeys } from '../kit/useKeys.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { isMistyped } from './mistyped.ts'
import { wasSentBefore, isAmong, isEdited, isSendable, nameOfLetter, nameOfOccasion } from './letters.ts'
import { useDraftChanges } from './draft-changes.ts'
import { DraftShow } from './DraftShow.tsx'
import { OrphanedTexts } from './OrphanedTexts.tsx'

interface DraftReviewProps {
  /** The occasion of the drafts; null for those of all decisions. */
  occasion: string | null
  drafts: readonly Letter[]
  /** Whether organisers send them from their own email program. */
  isByHand: boolean
  /** Whether there are drafts of other occasions. */
  hasOthers: boolean
  /** Content below the recipients. */
  more: ReactNode
  /** Renders the button that sends the ticked drafts. */
  children: (ticked: readonly Letter[]) => ReactNode
}

/** The id of the shown draft, its position among the drafts, and the ids of the drafts that are not to be sent. */
interface Review {
  chosen: string
  place: number
  unticked: readonly string[]
}

const initialReview: Review = { chosen: '', place: 0, unticked: [] }

/** The recipients of drafts, with a checkbox each, and the letter to the chosen recipient. */
export function DraftReview({
  occasion,
  drafts: unsorted,
  isByHand,
  hasOthers,
  more,
  children,
}: DraftReviewProps) {
  const changes = useDraftChanges()
  const groups = useGroups(unsorted)
  const drafts = groups.flatMap((group) => group.drafts)
  // Stored in the browser tab, so that unticked drafts stay unticked after a visit to another screen.
  const [review, setReview] = useUnsentText<Review>(`review ${occasion ?? 'decisions'}`)
  const { chosen, place: formerPosition, unticked } = review ?? initialReview
  const isBeside = useMedia('screen and (width > 52rem)')
  const isPrinting = useMedia('print')
  const chosenPosition = drafts.findIndex(({ id }) => id === chosen)
  // If the chosen draft is gone, shows the draft at its former position.
  const position = chosenPosition === -1 ? Math.min(formerPosition, drafts.length - 1) : chosenPosition
  const shown = drafts[position]
  const choose = (to: number) =>
    setReview((latest) => ({ ...initialReview, ...latest, chosen: drafts[to]?.id ?? '', place: to }))
  const goTo = (to: number) => {
    if (drafts[to]) choose(to)
    focusOn(document.getElementById(`recipient-${drafts[to]?.id}`))
  }

  const isSaved = (draft: Letter) => changes.of(draft)[0] === null
  const isSendableHere = (draft: Letter) => !isByHand && isSendable(draft) && isSaved(draft)
  const sendable = drafts.filter(isSendableHere)
  const isTicked = ({ id }: Letter) => !unticked.includes(id)
  const ticked = sendable.filter(isTicked)
  const tick = (letters: readonly Letter[], isOn: boolean) => {
    const ids = letters.map(({ id }) => id)
    const others = unticked.filter((id) => !ids.includes(id))
    setReview({ chosen, place: position, unticked: isOn ? others : [...others, ...ids] })
  }

  useKeys({
    j: () => goTo(Math.min(position + 1, drafts.length - 1)),
    k: () => goTo(Math.max(position - 1, 0)),
    x: () => shown && sendable.includes(shown) && tick([shown], !isTicked(shown)),
  })
  const onChosen = useEffectEvent((id: string | undefined) => {
    if (position === 0) return
    // In a single column the letter is below its row. The row moves to the top, because a letter above it has just disappeared.
    const block = isBeside ? 'nearest' : 'start'
    document.getElementById(`recipient-${id}`)?.closest('li')?.scrollIntoView({ block })
  })
  useEffect(() => onChosen(shown?.id), [shown?.id])

  const letterOf = (draft: Letter) => (
    <DraftShow
      key={draft.id}
      letter={draft}
      input={changes.of(draft)}
      isByHand={isByHand}
      isSheet={isBeside}
      onGone={() => goTo(position + 1 < drafts.length ? position + 1 : position - 1)}
    />
  )
  const orphanedTexts = (
    <OrphanedTexts {...{ changes, drafts }} isShown={(text) => isAmong(text.occasion, occasion)} />
  )
  if (shown === undefined)
    return (
      <>
        {orphanedTexts}
        <p>
          No drafts here.
          {hasOthers && (
            <>
              {' '}
              Others are under <a href={hrefOf({ screen: 'letters' })}>Letters</a>.
            </>
          )}
        </p>
        {more}
      </>
    )
  return (
    <>
      {orphanedTexts}
      <div className="drafts-review layout-columns">
        <div className="drafts-column layout-sheet">
          {sendable.length > 1 && (
            <TickAll drafts={sendable} {...{ isTicked, tick }}>
              Send all {formatNumber(sendable.length)}
            </TickAll>
          )}
          {groups.map((group) => (
            <Fragment key={group.occasion}>
              {occasion === null && (
                <GroupHead
                  {...group}
                  sendable={group.drafts.filter(isSendableHere)}
                  {...{ isTicked, tick }}
                />
              )}
              <ul aria-label={occasion === null ? nameOfOccasion(group.occasion) : 'Recipients'}>
                {group.drafts.map((draft) => (
                  <li key={draft.id}>
                    <div className="drafts-row">
                      {sendable.includes(draft) && (
                        <label className="control-tick">
                          <input
                            type="checkbox"
                            // Only the chosen row's checkbox is a tab stop, so that Tab leads from it to the letter.
                            tabIndex={draft === shown ? 0 : -1}
                            checked={isTicked(draft)}
                            onChange={({ target }) => tick([draft], target.checked)}
                          />
                          <span className="visually-hidden">Send to {nameOfLetter(draft)}</span>
                        </label>
                      )}
                      <label className="drafts-recipient">
                        <input
                          id={`recipient-${draft.id}`}
                          type="radio"
                          name="recipient"
                          checked={draft === shown}
                          onChange={() => choose(drafts.indexOf(draft))}
                        />
                        <bdi>{nameOfLetter(draft)}</bdi>{' '}
                        <span className="layout-quiet">{wordsOf(draft, isSaved(draft))}</span>
                      </label>
                    </div>
                    {(isPrinting || (!isBeside && draft === shown)) && letterOf(draft)}
                  </li>
                ))}
              </ul>
            </Fragment>
          ))}
          {more}
        </div>
        {isBeside && letterOf(shown)}
      </div>
      {!isByHand && (
        <div className="drafts-foot layout-row">
          {children(ticked)}
          <span className="layout-quiet">{sentencesOf(ticked, drafts.length - sendable.length)}</span>
        </div>
      )}
    </>
  )
}

interface TickAllProps {
  drafts: readonly Letter[]
  isTicked: (draft: Letter) => boolean
  tick: (drafts: readonly Letter[], isOn: boolean) => void
  children: ReactNode
}

/** A checkbox for several drafts. */
function TickAll({ drafts, isTicked, tick, children }: TickAllProps) {
  const count = drafts.filter(isTicked).length
  return (
    <Tick
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && count < drafts.length
      }}
      isOn={count === drafts.length}
      onTick={(isOn) => tick(drafts, isOn)}
    >
      {children}
    </Tick>
  )
}

interface Group {
  occasion: string
  drafts: readonly Letter[]
}

/** The line above the drafts of one decision, with a checkbox for those that can be sent. */
function GroupHead({
  occasion,
  drafts,
  sendable,
  ...ticks
}: Group & { sendable: readonly Letter[] } & Omit<TickAllProps, 'drafts' | 'children'>) {
  const words = (count: number) => `${formatNumber(count)} ${occasion}`
  return (
    <div className="drafts-group">
      {sendable.length > 0 ? (
        <TickAll drafts={sendable} {...ticks}>
          Send {words(sendable.length)}
        </TickAll>
      ) : (
        <span className="drafts-count">{words(drafts.length)}</span>
      )}
      <a
        className="drafts-template"
        href={hrefOf({ screen: 'template', occasion })}
        aria-label={`Template: ${nameOfOccasion(occasion)}`}
      >
        Template
      </a>
    </div>
  )
}

/**
 * The drafts by occasion. In each group those are first that were edited before this screen read them. Editing a draft later does
 * not move its row.
 */
function useGroups(drafts: readonly Letter[]): Group[] {
  const [wasEdited, setWasEdited] = useState<Readonly<Record<string, boolean>>>({})
  const isNew = ({ id }: Letter) => !(id in wasEdited)
  if (drafts.some(isNew)) {
    const entries = drafts.filter(isNew).map((draft) => [draft.id, isEdited(draft)] as const)
    setWasEdited({ ...wasEdited, ...Object.fromEntries(entries) })
  }
  const sorted = drafts.toSorted((one, other) => Number(wasEdited[other.id]) - Number(wasEdited[one.id]))
  return [...new Set(drafts.map(({ occasion }) => occasion))].map((occasion) => ({
    occasion,
    drafts: sorted.filter((draft) => draft.occasion === occasion),
  }))
}

/** The remarks about a draft, in a few words. */
function wordsOf(draft: Letter, isSaved: boolean) {
  const words = [
    ...(isSaved ? [] : ['Not saved']),
    ...(isSendable(draft) ? [] : ['Cannot be sent']),
    ...(isEdited(draft) ? ['Edited'] : []),
    ...(wasSentBefore(draft) ? ['Sent before'] : []),
    ...(isMistyped(draft) ? ['Mistyped address'] : []),
    ...(draft.failed_at ? ['Failed address'] : []),
  ]
  return words.join(', ')
}

/** The numbers of unedited ticked drafts, of edited ones, and of drafts that cannot be sent. */
function sentencesOf(ticked: readonly Letter[], unsendable: number) {
  const edited = ticked.filter(isEdited).length
  const unedited = ticked.filter(({ occasion }) => occasion !== '').length - edited
  const remarks = [
    ...(unedited > 0 ? [`${formatNumber(unedited)} not edited`] : []),
    ...(edited > 0 ? [`${formatNumber(edited)} edited`] : []),
  ].join(', ')
  return unsendable === 0
    ? remarks
    : `${remarks}${remarks && '. '}${countOf(unsendable, 'draft')} cannot be sent.`
}
