import type { ActName } from '../../../client/desk/calls.ts'
import { refetchedByDecisions, type KeyPrefix } from './queries.ts'

/** The keys of everything that shows letters, including applications and lists. */
const withLetters: KeyPrefix[] = ['letters', 'application', 'list changes']

/**
 * The query keys to read again after each act, whether it succeeded or not. Data that must disappear immediately, as after
 * erasing or switching blind reading, is dropped in responses.ts instead.
 */
export const refetchedBy = {
  desk_decide: refetchedByDecisions,
  desk_reveal: ['application'],
  desk_note: [],
  desk_erase: ['list changes', 'letters', 'application', 'places', 'junk'],
  desk_mark: ['list changes'],
  desk_set_blind: ['reading'],
  desk_set_reads_only: ['application', 'reading'],
  desk_set_notices: [],
  desk_set_door: ['door'],
  desk_tick_step: [],
  desk_set_template: withLetters,
  desk_remove_template: withLetters,
  desk_set_letters: withLetters,
  desk_send_test: [],
  desk_check_mail: ['letters'],
  desk_stop: withLetters,
  desk_write: withLetters,
  desk_write_to: withLetters,
  desk_edit: withLetters,
  desk_discard: withLetters,
  desk_release: withLetters,
  desk_withdraw: withLetters,
  desk_sent_by_hand: withLetters,
  desk_retry: withLetters,
  desk_readdress: withLetters,
  desk_settle: withLetters,
  desk_hand_over: ['application'],
  desk_remind: [...withLetters, 'places'],
  desk_set_page: ['page'],
  desk_set_places: ['places'],
  desk_set_retreat: ['places'],
  desk_set_answer: [...withLetters, 'places'],
  desk_keep_until: [...withLetters, 'places'],
  desk_set_questions: ['questions', 'places'],
  desk_answer_questions: [...withLetters, 'places', 'questions'],
  desk_erase_answers: ['questions'],
  desk_set_retention: ['retention', 'places'],
  desk_hold: ['retention'],
  desk_erase_due: ['retention', 'list changes', 'letters', 'application', 'places', 'junk'],
  desk_begin_edition: [...withLetters, 'places', 'questions', 'door', 'page'],
  desk_name_edition: ['places', 'list changes'],
} satisfies Record<ActName, readonly KeyPrefix[]>
