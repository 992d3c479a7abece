import { expect, test } from 'vitest'

import { defaultLook } from '../design/look.ts'
import { lookOf } from './look.ts'

test('with nothing set, the look is the default', () => {
  expect(lookOf({}, {})).toEqual(defaultLook)
})

test.each(['#ffee99', 'red', '#7a0019;}'])('the colour %s is left out, whoever stored it', (accent) => {
  expect(lookOf({}, { accent })).toEqual(defaultLook)
  expect(lookOf({}, { accent: '#7a0019' }).accent).toBe('#7a0019')
  expect(lookOf({ accent: '#005a5a' }, { accent }).accent).toBe('#005a5a')
})

test('the default thanks name the title', () => {
  expect(lookOf({}, { title: 'Slow Summer' }).success).toMatch(
    /^Thank you for applying to Slow Summer\. We'll/,
  )
  expect(lookOf({}, { title: 'Slow?' }).success).toMatch(/^Thank you for applying to Slow\? We'll/)
  expect(lookOf({}, { title: 'Slow', success: 'Thanks' }).success).toBe('Thanks')
  expect(lookOf({ success: 'Thanks' }, { title: 'Slow', success: 'Merci' }).success).toBe('Thanks')
})

test("an operator's settings win over the words of organisers, and these over the default", () => {
  const words = {
    title: 'Slow',
    tagline: 'By the lake',
    privacy_url: 'https://example.org',
    privacy_label: '',
  }
  expect(lookOf({ title: 'Unplugged.' }, words)).toEqual({
    ...defaultLook,
    title: 'Unplugged.',
    tagline: 'By the lake',
    privacyUrl: 'https://example.org',
  })
})
