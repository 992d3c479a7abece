import { useRef, useState } from 'react'

import type { Filter } from '../../../client/desk/applications.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { formatNumber } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk } from '../data/useDesk.tsx'
import { readTable, saveTable } from './export.ts'

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
      const table = await readTable(call, filter, setReceived, signal)
      return () => saveTable(table, filter.edition)
    },
    { onSuccess: (save) => save() },
  )
  const download = () => {
    setReceived(0)
    announce('Downloading…')
    press(currentFilter())
  }
  const stop = () => {
    cancel()
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
