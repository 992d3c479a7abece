import type { ReactNode } from 'react'

import { Button } from '../kit/Button.tsx'
import { Brand, useTitle } from '../kit/site-title.tsx'
import { notices, type Notice } from './notices.ts'
import { textIn, type FormState } from './useForm.ts'

const stepForm = 'step-form'

interface StepProps {
  title: string
  notice?: Notice | undefined
  children: ReactNode
}

/** One step of signing in, alone on the page. */
export function Step({ title, notice, children }: StepProps) {
  useTitle(title)
  return (
    <div className="session-alone">
      <Brand />
      <section className="layout-sheet session-step" aria-labelledby="step">
        <h1 id="step">{title}</h1>
        {notice && <NoticeBox {...notices[notice]} />}
        {children}
      </section>
    </div>
  )
}

/** A notice in a live region. */
export function NoticeBox({ text, isProblem }: { text: string; isProblem: boolean }) {
  return (
    <p className={`layout-notice ${isProblem ? 'error' : 'success'}`} role={isProblem ? 'alert' : 'status'}>
      {text}
    </p>
  )
}

interface StepFormProps {
  form: FormState
  /** The words of the submit button, and its words while pending. */
  button?: string
  pending?: string
  /** The buttons to other steps. */
  others: ReactNode
  children: ReactNode
}

/** The form of a step, and the buttons to other steps. */
export function StepForm({
  form,
  button = 'Sign in',
  pending = 'Signing in…',
  others,
  children,
}: StepFormProps) {
  return (
    <>
      <form id={stepForm} onSubmit={form.onSubmit}>
        {children}
        <button disabled={form.isPending}>{form.isPending ? pending : button}</button>
      </form>
      <div className="layout-row session-others">{others}</div>
    </>
  )
}

/** A button to another way to sign in. It passes on the typed email. */
export function OtherWay({ onPress, children }: { onPress: (email: string) => void; children: string }) {
  return (
    <Button
      form={stepForm}
      onPress={({ currentTarget: { form } }) => onPress(form ? textIn(new FormData(form), 'email') : '')}
    >
      {children}
    </Button>
  )
}
