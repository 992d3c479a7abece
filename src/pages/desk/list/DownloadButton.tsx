import { useRef } from 'react'

import type { CallDesk, Filter } from '../../../client/desk.ts'
import { sentenceOf } from '../messages.ts'
import { useDownload } from './download.ts'

interface DownloadButtonProps {
  callDesk: CallDesk
  currentFilter: () => Filter
}

/** Downloads what is filtered when it is pressed, as a table for spreadsheets. */
export function DownloadButton({ callDesk, currentFilter }: DownloadButtonProps) {
  const { isRunning, received, error, start, stop } = useDownload(callDesk, currentFilter)
  const button = useRef<HTMLButtonElement>(null)
  const onStop = () => {
    stop()
    // The button that was pressed goes.
    button.current?.focus()
  }
  return (
    <>
      <div className="row">
        <button ref={button} className="quiet" aria-disabled={isRunning} onClick={start}>
          Download CSV
        </button>
        {isRunning && (
          <>
            <span>{received.toLocaleString('en')} came…</span>
            <button className="quiet" onClick={onStop}>
              Stop
            </button>
          </>
        )}
      </div>
      {error !== null && (
        <p className="notice error" role="alert">
          Nothing was downloaded. {sentenceOf(error)}
        </p>
      )}
    </>
  )
}
