/** A field of the form that somebody fills in. */
export type Control = HTMLInputElement | HTMLTextAreaElement

/** Whether the target of an event is a field. */
export function isControl(target: EventTarget | null): target is Control {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
}
