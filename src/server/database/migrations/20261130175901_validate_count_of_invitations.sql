do $migration$
begin
  if current_setting('unplugged.auth') = 'supabase' then return; end if;

  alter table private.account_counts validate constraint account_counts_what_check;
end
$migration$;
