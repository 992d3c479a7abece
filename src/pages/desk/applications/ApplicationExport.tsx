import { useRef, useState } from 'react'

import type { Filter } from '../../../client/desk/applications.ts'
import { loadScript } from '../../../client/missing-script.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { countOf, formatNumber, localTimeOf } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk } from '../kit/useDesk.tsx'

/** Milliseconds after which every browser has started to save the file. */
const revokeDelay = 60_000

/**
 * A button that downloads the filtered applications as CSV. Leaving the screen stops the download.
 *
 * @param currentFilter Called when the button is pressed. Later changes of the filter affect the next download.
 */
export function ApplicationExport({ currentFilter }: { currentFilter: () => Filter }) {
  const { call } = useDesk()
  const [received, setReceived] = useState(0)
  const button = useRef<HTMLButtonElement>(null)
  const { isPending, error, press, cancel } = useAct(
    async (filter: Filter, signal) => {
      const { readTable } = await loadScript(import('./export.ts'))
      return readTable(call, filter, setReceived, signal)
    },
    {
      onSuccess({ file, count }) {
        save(file, `applications-${localTimeOf(Date.now()).slice(0, '2026-12-31'.length)}.csv`)
        announce(`Downloaded ${countOf(count, 'application')}.`)
      },
    },
  )
  const download = () => {
    setReceived(0)
    announce('Downloading…')
    press(currentFilter())
  }
  const stop = () => {
    cancel()
    announce('The download was stopped. Nothing was saved.')
    // The pressed button disappears.
    button.current?.focus()
  }
  return (
    <>
      <div className="layout-row">
        <Button ref={button} isOff={isPending} onPress={download}>
          Download CSV
        </Button>
        {isPending && <span>{formatNumber(received)} received…</span>}
        {isPending && <Button onPress={stop}>Stop</Button>}
      </div>
      <Problem message="Nothing was downloaded." error={error} />
    </>
  )
}

function save(file: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), revokeDelay)
}
