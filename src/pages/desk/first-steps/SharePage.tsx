import { useId, useState } from 'react'

import { CopyButton } from '../kit/CopyButton.tsx'
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
  const onCopied = (done: boolean) => {
    const field = document.getElementById(id)
    // So that it can be copied by hand.
    if (!done && field instanceof HTMLInputElement) field.select()
    setIsCopied(done)
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
        <CopyButton text={address} copied="Address copied." onCopied={onCopied} />
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
