-- The number of invitations that an organiser sends within an hour of the first.
do $migration$
begin
  if current_setting('unplugged.auth') = 'supabase' then return; end if;

  alter table private.account_counts drop constraint account_counts_what_check,
    add constraint account_counts_what_check check (what in ('mails', 'factor guesses', 'invitations')) not valid;
end
$migration$;
