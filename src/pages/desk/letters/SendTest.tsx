import { useRef } from 'react'

import { newAct } from '../../../client/act.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useLetters } from './letters.ts'

interface SendTestProps {
  callDesk: CallDesk
  occasion: string
  subject: string
  body: string
  application: string
}

/** Sends the organiser what stands in the fields, filled in as the preview is; where somebody carries mails. */
export function SendTest({ callDesk, ...text }: SendTestProps) {
  const { data: overview } = useLetters(callDesk)
  // Asked for again after a failure it is the same act, where it is the same text.
  const asked = useRef({ text: '', act: '' })
  const { mutate, isPending, error } = useAct(
    (_given: void, signal) => {
      const said = JSON.stringify(text)
      if (asked.current.text !== said) asked.current = { text: said, act: newAct() }
      return callDesk('desk_send_test', { ...text, act: asked.current.act }, signal)
    },
    {
      onSuccess: ({ to }) => {
        asked.current = { text: '', act: '' }
        announce(`A test leaves for ${to}.`)
      },
    },
  )
  if (!overview?.postman.is_there) return null
  return (
    <>
      <button className="quiet" aria-disabled={isPending} onClick={() => !isPending && mutate()}>
        Send me a test
      </button>
      {error && <p role="alert">{sentenceOf(error)}</p>}
    </>
  )
}
