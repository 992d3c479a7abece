import type { ReactNode } from 'react'

import { Button } from '../kit/Button.tsx'
import { useTitle } from '../kit/Screen.tsx'
import type { Notice } from './sentences.ts'
import { textIn, type Form } from './useForm.tsx'

const stepForm = 'step-form'

interface StepProps {
  title: string
  notice?: Notice | undefined
  children: ReactNode
}

/** One step of the sign-in, alone on the page. */
export function Step({ title, notice, children }: StepProps) {
  useTitle(title)
  return (
    <div className="session-alone">
      <p className="desk-brand">Unplugged.</p>
      <section className="layout-sheet session-step" aria-labelledby="step">
        <h1 id="step">{title}</h1>
        {notice && <Said {...notice} />}
        {children}
      </section>
    </div>
  )
}

/** A sentence that screen readers say when it appears. */
export function Said({ text, isProblem }: Notice) {
  return (
    <p className={`layout-notice ${isProblem ? 'error' : 'success'}`} role={isProblem ? 'alert' : 'status'}>
      {text}
    </p>
  )
}

interface StepFormProps {
  form: Form
  /** What the button says that sends it, and while it is being sent. */
  button?: string
  pending?: string
  /** The buttons that lead elsewhere. */
  others: ReactNode
  children: ReactNode
}

/** The fields of a step, and the ways to others. */
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

/** The button that leads to another way to sign in, and takes the typed email along. */
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
