import { QueryClient, QueryClientProvider } from '@tanstack/react-query'

import type { ListedApplication } from '../../client/desk/applications.ts'
import { Applications } from './applications/Applications.tsx'
import { Frame } from './Frame.tsx'
import { filterOf, filtersFrom } from './data/filters.ts'
import type { List } from './data/list.ts'
import { DeskProvider, type Me } from './data/useDesk.tsx'

const blank: ListedApplication = {
  id: '',
  created_at: '',
  status: 'new',
  version: 0,
  withdrawn_at: null,
  same_email: true,
  applied_before: true,
  answer_state: null,
  answer: null,
  answered_at: null,
  kept_until: null,
  first_name: '',
  last_name: '',
  email: '',
  company: '',
  paid_solution: '',
  team_size: '',
  reason: '',
}

const nobody: Me = { account: '', email: '', isReader: false, callDesk: never }

/** The desk with one blank row, rendered into a `<template>` element of the document. The inline script replaces the row. */
export function BlankList({ version }: { version: string }) {
  const filters = filtersFrom('')
  const queries = new QueryClient()
  const filter = filterOf(filters)
  const list: List = {
    applications: [blank],
    letters: [],
    marks: {},
    new_notes: [],
    next: null,
    filter,
    readAt: 0,
    isPartial: false,
  }
  queries.setQueryData(['list', filter], list)
  return (
    <QueryClientProvider client={queries}>
      <DeskProvider me={nobody}>
        <Frame session={{ signOut: never }} version={version}>
          <Applications route={{ screen: 'list', filters }} />
        </Frame>
      </DeskProvider>
    </QueryClientProvider>
  )
}

function never() {
  return Promise.reject(new Error('nothing is called while the document is made'))
}
