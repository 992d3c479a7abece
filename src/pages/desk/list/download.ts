import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import type { CallDesk, Filter } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { readTable } from './table-file.ts'

/** Milliseconds after which a browser has surely begun to save a file. */
const saving = 60_000

/**
 * A download of what a filter lets through: how far it is, how to start and how to stop it. It ends with the screen.
 *
 * @param currentFilter Asked when it is started; what is filtered afterwards is the next download's.
 */
export function useDownload(callDesk: CallDesk, currentFilter: () => Filter) {
  const [received, setReceived] = useState(0)
  const running = useRef<AbortController>(null)
  const { mutate, isPending, error } = useMutation({
    mutationFn: async ({ filter, signal }: { filter: Filter; signal: AbortSignal }) => {
      try {
        return await readTable(callDesk, filter, setReceived, signal)
      } catch (cause) {
        if (signal.aborted) return null
        throw cause
      }
    },
    onSuccess: (table) => {
      if (table === null) return
      const { file, count } = table
      save(file, `applications-${today()}.csv`)
      announce(`Downloaded ${count.toLocaleString('en')} ${count === 1 ? 'application' : 'applications'}.`)
    },
  })
  useEffect(() => () => running.current?.abort(), [])

  return {
    isRunning: isPending,
    received,
    error,
    start: () => {
      if (isPending) return
      running.current = new AbortController()
      setReceived(0)
      mutate({ filter: currentFilter(), signal: running.current.signal })
      announce('Downloading…')
    },
    stop: () => {
      running.current?.abort()
      announce('The download was stopped. Nothing was saved.')
    },
  }
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
