import { useLayoutEffect, useRef, useState, type FormEvent, type RefObject } from 'react'

/** The browser's own sentences about fields that were refused, by the fields' names. */
export type Problems = Partial<Record<string, string>>

type Control = HTMLInputElement | HTMLTextAreaElement

interface WatchedFields {
  problems: Problems
  /** What the element around the fields needs. */
  watch: {
    ref: RefObject<HTMLDivElement | null>
    onInvalidCapture: (event: FormEvent) => void
    onBlur: (event: FormEvent) => void
    onInput: (event: FormEvent) => void
  }
}

/**
 * Tells what is wrong in which field: from a send that was refused, or from when somebody left it with something wrong in it,
 * until it is right.
 */
export function useProblems(): WatchedFields {
  const [problems, setProblems] = useState<Problems>({})
  const ref = useRef<HTMLDivElement>(null)

  const check = ({ name, validationMessage }: Control) =>
    setProblems((before) =>
      (before[name] ?? '') === validationMessage ? before : { ...before, [name]: validationMessage },
    )

  // A send that was refused before React was there: once, since the script arrives once.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useLayoutEffect(() => ref.current?.querySelectorAll<Control>('[aria-invalid=true]').forEach(check), [])

  const watch = {
    ref,
    onInvalidCapture: (event: FormEvent) => check(event.target as Control),
    onBlur: (event: FormEvent) => {
      const field = event.target as Control
      // Consent, and what was left blank, are refused by a send alone.
      if (field.value !== '' && field.type !== 'checkbox') afterPress(() => check(field))
    },
    onInput: (event: FormEvent) => {
      const field = event.target as Control
      if (problems[field.name]) check(field)
    },
  }
  return { problems, watch }
}

/**
 * Runs something that moves what is below. While a pointer is down it waits for the click, which would meet something else
 * otherwise. Firefox says only after the blur what is pressed.
 */
function afterPress(run: () => void) {
  setTimeout(() => {
    if (document.querySelector(':active'))
      window.addEventListener('click', run, { once: true, capture: true })
    else run()
  })
}
