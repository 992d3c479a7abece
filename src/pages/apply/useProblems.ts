import { useLayoutEffect, useRef, useState, type FormEvent, type RefObject } from 'react'

/** The browser's own messages for invalid fields, by field name. */
export type Problems = Partial<Record<string, string>>

type Control = HTMLInputElement | HTMLTextAreaElement

interface WatchedFields {
  problems: Problems
  /** The props of the element around the fields. */
  watch: {
    ref: RefObject<HTMLDivElement | null>
    onInvalidCapture: (event: FormEvent) => void
    onBlur: (event: FormEvent) => void
    onInput: (event: FormEvent) => void
  }
}

/**
 * Tracks which fields are invalid. A message appears after a refused submission, or when somebody leaves an invalid field. It
 * disappears when the field is valid.
 */
export function useProblems(): WatchedFields {
  const [problems, setProblems] = useState<Problems>({})
  const ref = useRef<HTMLDivElement>(null)

  const check = ({ name, validationMessage }: Control) =>
    setProblems((before) =>
      (before[name] ?? '') === validationMessage ? before : { ...before, [name]: validationMessage },
    )

  // Shows the problems of a submission that was refused before React had loaded, unless they were corrected since. Runs once.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useLayoutEffect(() => {
    for (const field of ref.current?.querySelectorAll<Control>('[aria-invalid=true]') ?? []) {
      field.ariaInvalid = String(!field.validity.valid)
      check(field)
    }
  }, [])

  const watch = {
    ref,
    onInvalidCapture: (event: FormEvent) => check(event.target as Control),
    onBlur: (event: FormEvent) => {
      const field = event.target as Control
      // Consent and blank fields are only checked on submission.
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
 * Runs a function that shows or hides a message, which moves the content below. While a pointer is down, waits for the click,
 * which would otherwise hit another element. The timeout is for Firefox, which sets `:active` only after the blur event.
 */
function afterPress(run: () => void) {
  setTimeout(() => {
    if (document.querySelector(':active'))
      window.addEventListener('click', run, { once: true, capture: true })
    else run()
  })
}
