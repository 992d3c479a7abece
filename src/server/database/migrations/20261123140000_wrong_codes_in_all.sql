-- How many wrong codes were tried since somebody signed in, of however many mails: each mail's code counts its own.
do $migration$
begin
  if current_setting('unplugged.auth') = 'supabase' then return; end if;

  alter table auth.one_time_tokens add column wrong_codes_in_all integer not null default 0;
  alter table private.decoys add column wrong_codes_in_all integer not null default 0;
end
$migration$;
