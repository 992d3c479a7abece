const id = '00000000-0000-4000-8000-000000000000'

/** Every function of the desk, with arguments that it takes and that would change nothing. */
export const deskCalls: Readonly<Record<string, object>> = {
  desk_me: {},
  desk_list: { filter: {}, after: null },
  desk_overview: { filter: {}, zone: 'UTC' },
  desk_export: { filter: {}, after: null },
  desk_application: { application: id },
  desk_reveal: { act: id, application: id },
  desk_blind: {},
  desk_set_blind: { blind: null },
  desk_decide: { act: id, decisions: [] },
  desk_note: { act: id, application: id, note: '' },
  desk_erase: { applications: [], email: '' },
  desk_door: {},
  desk_set_door: { version: -1, closed: false, sentence: '', closes_at: null, closes_after: null },
}
