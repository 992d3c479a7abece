import { useId, useState } from 'react'

import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Field } from '../kit/Field.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { addressFrom, sourceOf } from './source.ts'
import { usePageAddress } from './usePageAddress.ts'

/** The address of the applicants' page, to copy and to open, and the addresses by which Charts tells sources apart. */
export function SharePage() {
  const page = usePageAddress()
  const [place, setPlace] = useState('')
  const source = sourceOf(place)
  const address = addressFrom(page, source)
  const id = useId()
  const [isCopied, setIsCopied] = useState(true)
  const copy = async () => {
    const field = document.getElementById(id)
    try {
      await navigator.clipboard.writeText(address)
      setIsCopied(true)
      announce('Address copied.')
    } catch {
      // A page without HTTPS has no clipboard. The address is selected, so that it can be copied by hand.
      if (field instanceof HTMLInputElement) field.select()
      setIsCopied(false)
    }
  }
  return (
    <Sheet title="Share the page" className="first-steps-share">
      <Field
        id={id}
        label="Address"
        readOnly
        value={address}
        problem={isCopied ? undefined : 'Not copied. Copy the selected address with your browser.'}
      />
      <div className="layout-row">
        <Button onPress={() => void copy()}>Copy</Button>
        {/* Without the source: looking at the page is no visit from there. */}
        <a className="control-link" href={page} target="_blank" rel="noreferrer">
          Open
        </a>
      </div>
      <Field
        label="Where you share it"
        hint="Optional, such as “newsletter”. The address then says where a visit comes from, and Charts counts it."
        autoComplete="off"
        value={place}
        onText={setPlace}
      />
    </Sheet>
  )
}
