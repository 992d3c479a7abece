import { isControl, type Control } from './control.ts'

/**
 * Shows the browser's own message below each invalid field. A message appears after a refused submission, or when somebody leaves
 * an invalid field. It disappears when the field is valid.
 */
export function showProblems(form: HTMLFormElement): void {
  form.addEventListener('invalid', ({ target }) => check(target as Control), true)
  form.addEventListener('focusout', ({ target }) => {
    if (!isControl(target)) return
    // Consent and blank fields are only checked on submission.
    if (target.value !== '' && target.type !== 'checkbox') afterPress(() => check(target))
  })
  form.addEventListener('input', ({ target }) => {
    if (isControl(target) && document.getElementById(problemId(target))) check(target)
  })
  // Shows the problems of a submission that was refused before this script ran, unless they were corrected since.
  for (const field of form.querySelectorAll<Control>('[aria-invalid=true]')) check(field)
}

const problemId = ({ name }: Control) => `${name}-problem`

/** Shows or removes the message of a field. */
function check(field: Control) {
  const { validationMessage } = field
  const id = problemId(field)
  const shown = document.getElementById(id)
  field.ariaInvalid = String(validationMessage !== '')
  if (shown?.textContent === validationMessage) return
  shown?.remove()
  if (validationMessage === '') return field.removeAttribute('aria-describedby')
  const problem = document.createElement('p')
  problem.className = 'problem'
  problem.id = id
  problem.textContent = validationMessage
  const place = field.closest('.consent') ?? field
  place.after(problem)
  field.setAttribute('aria-describedby', id)
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
