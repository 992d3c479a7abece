-- Rights: only the owner may use these tables and functions, with the exceptions that are named here.

revoke all on schema private from public, anon, authenticated;

revoke all on table
  private.organisers, private.search_vectors, private.statuses, private.history, private.door, private.templates,
  private.letter_settings, private.postman, private.letters, private.deliveries, private.erasures,
  private.installation, private.places, private.invitations, private.addresses, private.standings
  from public, anon, authenticated;

-- PostgreSQL lets everybody execute a new function, and a hosted project lets the API's roles execute one in `public`. Rights are
-- taken back by name, since a project may have functions of its own there.
do $$
declare
  ours constant text[] := '{
    address_of, adopt_zone, announce, answers, application_of_token, begin_wait, beginnings, caller, check_letter,
    check_number, check_site, check_template, check_text, claim_delivery, claim_letter, claim_mail, claim_notice,
    day_shown, door_state, draft, draft_text, due_mail, enqueue_rsvp, example, fill, filled, find, find_one,
    folded, follow_letter, has_deadline, has_link, has_room, hold_applying, indexed, invitation_placeholders,
    invite, is_busy, is_current, is_deadline_over, is_decision, is_organiser, is_overdue, is_recent, is_reminded,
    is_reminder_recent, is_to_applicant, is_told, is_zone, keep_door, keep_invitation, keep_notices, keep_search_vectors,
    know_site, letter_page, letter_states, letter_text, letters_of, letters_overview, letters_shown, list_position,
    lock_for_letters, lock_invitation, lock_letters, made_of, mail_back_off, mailbox, may_ask, may_leave, missing_in, move, person,
    placeholders, plain_name, receipt, receipts_since, record_delivery, redraft, refuse_too_long, remember_erasures,
    retry, retry_deliveries, rsvp_state, search, search_octets, search_vector, set_door,
    set_rsvp, settle_restored_letters, stamp, summaries, to_remind, to_send, today, told_by, up_to_thousand, whole,
    with_invitation, withdraw_receipt, words, write_answer_notices, write_day_notices, write_down, write_down_letters,
    write_notices, write_receipt
  }';
  desk constant text[] := '{
    desk_application, desk_blind, desk_check_mail, desk_decide, desk_discard, desk_door, desk_drafts, desk_edit, desk_erase,
    desk_export, desk_hand_over, desk_history, desk_keep_until, desk_letter_states, desk_letters, desk_letters_of, desk_list,
    desk_me, desk_meanwhile, desk_note, desk_notices, desk_outbox, desk_overview, desk_places, desk_preview,
    desk_readdress, desk_release, desk_remind, desk_remove_template, desk_retry, desk_reveal, desk_select,
    desk_send_test, desk_sent_by_hand, desk_set_answer, desk_set_blind, desk_set_door, desk_set_places,
    desk_set_letters, desk_set_notices, desk_set_template, desk_settle, desk_stamp, desk_stop, desk_withdraw,
    desk_write, desk_write_to
  }';
  -- Visitors ask for the door; whoever has the link of a letter asks for their place, and answers.
  everybodys constant text[] := '{answer_place, door_is_open, place_by_token}';
  -- Whoever inserts has to be able to compute what is indexed. Without a right on their schema nobody calls them.
  inserting constant text[] := '{folded, person, search_octets, search_vector}';
  function record;
begin
  for function in
    select oid::regprocedure as signature, proname as name from pg_proc
    where pronamespace = 'private'::regnamespace and proname = any (ours)
      or pronamespace = 'public'::regnamespace and proname = any (desk || everybodys)
  loop
    execute format('revoke all on function %s from public, anon, authenticated', function.signature);
    if function.name = any (desk || everybodys) then
      execute format('grant execute on function %s to authenticated', function.signature);
    end if;
    if function.name = any (everybodys || inserting) then
      execute format('grant execute on function %s to anon', function.signature);
    end if;
    if function.name = any (inserting) then
      execute format('grant execute on function %s to service_role', function.signature);
    end if;
  end loop;
end
$$;
