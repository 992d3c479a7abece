import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { Letter } from '../../../client/desk/letters.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Button } from '../kit/Button.tsx'
import { Field, Form } from '../kit/Field.tsx'
import { useOnHidden } from '../kit/focus.ts'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { FailedAddress } from './FailedAddress.tsx'
import { addressQuery } from './letter-pages.ts'
import { receipt } from './letters.ts'

/**
 * The buttons for an undelivered letter: retry, send to another address, or note that the applicant was contacted another way.
 * The label names the applicant, and the automation if the letter is sent to it.
 */
export function UndeliveredEdit({ letter, label }: { letter: Letter; label: string }) {
  const letters = [letter.id]
  const [isReaddressing, setIsReaddressing] = useState(false)
  const readdressButton = useRef<HTMLButtonElement>(null)
  useOnHidden(isReaddressing, () => readdressButton.current?.focus())
  const retry = useDeskAct('desk_retry', {
    success: ({ retried }) => `${label}: ${retried > 0 ? 'will be retried' : 'can no longer be retried'}`,
  })
  const settle = useDeskAct('desk_settle', {
    success: ({ settled }) =>
      `${label}: ${settled > 0 ? 'contacted another way' : 'no longer needs to be told'}`,
  })
  return (
    <>
      <div className="layout-row">
        <Button about={label} isPending={retry.isPending} onPress={() => retry.press({ letters })}>
          Try again
        </Button>
        {/* Automations and receipts use only the applicant's own email. Blind readers see no address. */}
        {letter.way === 'mail' && letter.occasion !== receipt && letter.to !== null && (
          <Button
            ref={readdressButton}
            about={label}
            aria-expanded={isReaddressing}
            onPress={() => setIsReaddressing(!isReaddressing)}
          >
            Send to another address
          </Button>
        )}
        <Button about={label} isPending={settle.isPending} onPress={() => settle.press({ letters })}>
          I told them another way
        </Button>
      </div>
      {isReaddressing && letter.to !== null && (
        <Readdress {...{ letter, label }} onClose={() => setIsReaddressing(false)} />
      )}
      <ActProblems acts={[retry, settle]} />
    </>
  )
}

interface ReaddressProps {
  letter: Letter
  label: string
  onClose: () => void
}

/** Sends a letter to another address. The email in the application does not change. */
function Readdress({ letter, label, onClose }: ReaddressProps) {
  const textName = `address ${letter.id}`
  const [typed, setUnsent] = useUnsentText<{ address: string }>(textName)
  const { address = letter.to ?? '' } = typed ?? {}
  const { data } = useQuery(addressQuery(useDesk(), address.trim()))
  const send = useDeskAct('desk_readdress', {
    success: (_letter, args) => `${label}: on the way to ${args.address}`,
    text: textName,
  })
  const cancel = () => {
    setUnsent(null)
    onClose()
  }
  return (
    <Form
      className="letters-readdress"
      onSend={() => send.press({ letter: letter.id, address: address.trim() })}
    >
      <Field
        label="Address"
        hint="From now on, all letters to this applicant go there. The email in the application does not change."
        type="email"
        autoComplete="off"
        required
        takesFocus
        maxLength={maxCharacters.address}
        value={address}
        onText={(text) => setUnsent({ address: text })}
      />
      <FailedAddress failedAt={data?.failed_at} />
      <ActProblems acts={[send]} />
      <div className="layout-row">
        <Button isPending={send.isPending}>Send there</Button>
        <Button onPress={cancel}>Cancel</Button>
      </div>
    </Form>
  )
}
