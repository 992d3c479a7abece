-- Rights: only the owner may use these tables and functions, with the exceptions named here.

-- This file runs only in an empty database. A migration must name each function instead, since a Supabase project may have
-- functions of its own.
revoke all on schema private from public, anon, authenticated;
revoke all on all tables in schema private from public, anon, authenticated;

-- PostgreSQL lets everybody execute a new function, and a default privilege of one schema cannot change that.
revoke all on all functions in schema private from public, anon, authenticated;
-- Index expressions need these rights at inserts. Without a right on the schema, these roles cannot call the functions
-- directly.
grant execute on function private.ascii_email, private.ascii_label, private.blanks, private.email_with_labels, private.folded,
  private.person, private.punycode_bias, private.search_octets, private.search_vector, private.trimmed, private.unicode_label
  to anon, service_role;

do $$
declare
  -- Visitors read the door. Applicants with the link of a letter read their invitation, give their RSVP and answer questions. Those
  -- with the link of a receipt withdraw their application.
  for_anonymous constant text[] := '{answer_place, answer_questions, door_is_open, place_by_token, withdraw_application, withdrawal_by_token}';
  function record;
begin
  for function in
    select oid::regprocedure as signature, proname as name from pg_proc
    where pronamespace = 'public'::regnamespace and (starts_with(proname, 'desk_') or proname = any (for_anonymous))
  loop
    execute format('revoke all on function %s from public, anon, authenticated', function.signature);
    execute format('grant execute on function %s to authenticated', function.signature);
    if function.name = any (for_anonymous) then
      execute format('grant execute on function %s to anon', function.signature);
    end if;
  end loop;
end
$$;
