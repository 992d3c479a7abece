import { useRef, useState } from 'react'

import type { Filter } from '../../../client/desk/applications.ts'
import { scriptOf } from '../../../client/missing-script.ts'
import { announce } from '../kit/announce.tsx'
import { countOf, digits } from '../kit/format.ts'
import { Problem } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { useDesk } from '../kit/useDesk.tsx'

/** Milliseconds after which a browser has surely begun to save a file. */
const saving = 60_000

interface ApplicationExportProps {
  /** Gives the filter. It is called when the button is pressed: a later filter counts for the next download. */
  currentFilter: () => Filter
}

/** Downloads what is filtered, as a table for spreadsheets. It ends with the screen. */
export function ApplicationExport({ currentFilter }: ApplicationExportProps) {
  const { call } = useDesk()
  const [received, setReceived] = useState(0)
  const button = useRef<HTMLButtonElement>(null)
  const { isPending, error, press, cancel } = useAct(
    async (filter: Filter, signal) => {
      const { readTable } = await scriptOf(import('./export.ts'))
      return readTable(call, filter, setReceived, signal)
    },
    {
      onSuccess({ file, count }) {
        save(file, `applications-${today()}.csv`)
        announce(`Downloaded ${countOf(count, 'application')}.`)
      },
    },
  )
  return (
    <>
      <div className="row">
        <button
          ref={button}
          className="quiet"
          aria-disabled={isPending}
          onClick={() => {
            if (isPending) return
            setReceived(0)
            announce('Downloading…')
            press(currentFilter())
          }}
        >
          Download CSV
        </button>
        {isPending && (
          <>
            <span>{digits(received)} came…</span>
            <button
              className="quiet"
              onClick={() => {
                cancel()
                announce('The download was stopped. Nothing was saved.')
                // The pressed button disappears.
                button.current?.focus()
              }}
            >
              Stop
            </button>
          </>
        )}
      </div>
      <Problem said="Nothing was downloaded." error={error} />
    </>
  )
}

/** As ISO 8601 has it, which Swedish writes too. */
function today() {
  return new Date().toLocaleDateString('sv')
}

function save(file: Blob, name: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), saving)
}
