import { expect, test } from 'vitest'

import { filtersFrom } from './filters.ts'
import { hrefOf, hrefsIn, isForReaders, roomOf, routeOf, unfilteredList, type Route } from './route.ts'

const filters = filtersFrom('status=all&search=acme')

test.each<[string, Route]>([
  ['#/', { screen: 'list', filters: filtersFrom('') }],
  ['#/?status=all&search=acme', { screen: 'list', filters }],
  ['#/applications/12?status=all&search=acme', { screen: 'application', id: '12', filters }],
  ['#/applications/1/all', { screen: 'person', id: '1', filters: filtersFrom('') }],
  ['#/applications/1/all?status=all&search=acme', { screen: 'person', id: '1', filters }],
  ['#/coming', { screen: 'coming' }],
  ['#/retreat', { screen: 'retreat' }],
  ['#/first-steps', { screen: 'first-steps' }],
  ['#/questions', { screen: 'questions' }],
  ['#/guests', { screen: 'guests' }],
  ['#/guests?edition=1', { screen: 'guests', edition: 1 }],
  ['#/coming?edition=1', { screen: 'coming', edition: 1 }],
  ['#/retreats', { screen: 'retreats' }],
  ['#/letters', { screen: 'letters' }],
  ['#/letters/drafts/A%20%2F%20B%25', { screen: 'drafts', occasion: 'A / B%' }],
  ['#/letters/personal', { screen: 'drafts', occasion: '' }],
  ['#/letters/decisions', { screen: 'drafts', occasion: null }],
  ['#/letters/templates/Travel', { screen: 'template', occasion: 'Travel' }],
  ['#/letters/outbox/waiting', { screen: 'outbox', state: 'waiting' }],
  ['#/letters/outbox/refused', { screen: 'outbox', state: 'refused' }],
  ['#/letters/outbox/given%20up', { screen: 'outbox', state: 'given up' }],
  ['#/door', { screen: 'door' }],
  ['#/account', { screen: 'account' }],
  ['#/history', { screen: 'history' }],
])('a route and its address convert into each other: %s', (href, route) => {
  expect(routeOf(href)).toEqual(route)
  expect(hrefOf(route)).toBe(href)
})

test('an address of version 1.2 leads to the screen that replaced it', () => {
  expect(routeOf('#/places')).toEqual({ screen: 'coming' })
  expect(routeOf('#/places?edition=1')).toEqual({ screen: 'coming', edition: 1 })
})

test.each([
  ['#/', 'Applications'],
  ['#/applications/1', 'Applications'],
  ['#/applications/1/all', 'Applications'],
  ['#/guests', 'Guests'],
  ['#/letters/personal', 'Letters'],
  ['#/letters/templates/Travel', 'Letters'],
  ['#/letters/outbox/waiting', 'Letters'],
  ['#/history', 'Retreat'],
  ['#/account', 'Account'],
  ['#/hired', ''],
  ['#/toString', ''],
])('the screen of %s belongs to the room %j', (hash, room) => {
  expect(roomOf(routeOf(hash))).toBe(room)
})

test.each([
  ['#/?status=all', true],
  ['#/applications/1', true],
  ['#/applications/1/all', false],
  ['#/account', true],
  ['#/hired', true],
  ['#/letters', false],
  ['#/letters/decisions', false],
  ['#/coming', false],
  ['#/history', false],
])('readers may open %s: %j', (hash, isOpen) => {
  expect(isForReaders(routeOf(hash))).toBe(isOpen)
})

test.each(['', '#', '/'])('an empty address shows the list: %j', (hash) => {
  expect(routeOf(hash)).toEqual({ screen: 'list', filters: filtersFrom('') })
  expect(unfilteredList).toEqual(routeOf(hash))
})

test.each([
  '#/hired',
  '#/applications',
  '#/applications/1/notes',
  '#/applications/1/all/1',
  '#/applications/1/',
  '#/old/applications/1',
  '#/letters/drafts',
  '#/letters/outbox/lost',
  '#/letters/drafts/Travel/1',
  '#/letters/drafts/',
  '#/door/1',
  '#/people/drafts/Travel',
  '#/letters/sent/waiting',
  'applications#/1',
])('an unknown address has no screen: %s', (hash) => {
  expect(routeOf(hash)).toEqual({ screen: 'unknown' })
  expect(hrefOf({ screen: 'unknown' })).toBe('#/')
})

test('an invalid escape in an address is left unchanged', () => {
  expect(routeOf('#/letters/drafts/100%')).toEqual({ screen: 'drafts', occasion: '100%' })
})

test('the links to the applications of a list keep its filters', () => {
  expect(['1', 'a/b'].map(hrefsIn(filters))).toEqual([
    '#/applications/1?status=all&search=acme',
    '#/applications/a%2Fb?status=all&search=acme',
  ])
})
