/**
 * Whether a key belongs to a composition, such as of Japanese characters. Enter and Escape then choose or drop characters.
 *
 * In WebKit, only the key code shows that a key ended a composition.
 */
export function isComposing(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  return event.isComposing || event.keyCode === 229
}
