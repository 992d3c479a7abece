-- Rights: nobody but their owner uses what is ours, with the exceptions that are named here.

revoke all on schema private from public, anon, authenticated;

revoke all on table
  private.organisers, private.search_vectors, private.statuses, private.history, private.door, private.templates,
  private.letter_settings, private.postman, private.letters, private.notices, private.webhook_outbox, private.erasures,
  private.installation
  from public, anon, authenticated;

-- PostgreSQL lets everybody execute a new function, and a hosted project the API's roles one of `public`. By name: a
-- project may have functions of its own there.
do $$
declare
  ours constant text[] := '{
    address_of, announce, begin_wait, beginnings, caller, check_letter, check_number, check_template, check_text,
    counts, detail_shown, door_state, draft, draft_text, enqueue_webhook, example, fill, filled, find, find_one,
    folded, hits, indexed, is_decision, is_organiser, is_to_applicant, keep_door, keep_search_vectors, letter_page,
    letter_states, letter_text, letters_of, letters_shown, lock_for_letters, lock_letters, made_of, mailbox, move,
    person, place, placeholders, plain_name, receipt, redraft, refuse_too_long, remember_erasures, retry, search_octets, search_query,
    search_vector, search_vectors_of, set_door, shown, stamp, whole, withdraw_receipt, write_day_notices,
    write_down, write_down_letters, write_notices, write_receipt
  }';
  desk constant text[] := '{
    desk_application, desk_blind, desk_check_mail, desk_decide, desk_discard, desk_door, desk_drafts, desk_edit, desk_erase,
    desk_export, desk_history, desk_letter_states, desk_letters, desk_letters_of, desk_list, desk_me, desk_meanwhile, desk_note,
    desk_notices, desk_outbox, desk_overview, desk_preview, desk_readdress, desk_release, desk_remove_template,
    desk_retry, desk_reveal, desk_select, desk_send_test, desk_sent_by_hand, desk_set_blind, desk_set_door,
    desk_set_letters, desk_set_notices, desk_set_template, desk_settle, desk_stamp, desk_stop, desk_withdraw,
    desk_write, desk_write_to
  }';
  -- Visitors ask for the door.
  everybodys constant text[] := '{door_is_open}';
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
