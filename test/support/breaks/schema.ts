import type { Break } from './break.ts'

/** Deliberate breaks of the schema's rules, and of the promises about data when the schema changes. */
export const schema: readonly Break[] = [
  {
    id: 'migration-changes-stored-rows',
    effect: 'A migration changes what earlier versions stored',
    statements: `alter table private.statuses alter column version set default 0;
update private.statuses set set_at = now();`,
  },
  {
    id: 'restore-keeps-new-templates',
    effect: 'A restore keeps the templates and settings of the new database',
    declaration: 'insertLines',
    find: 'do update set (${columns}) = row(${newValues})',
    replace: 'do nothing',
  },
  {
    id: 'restore-sets-older-edition',
    effect: 'After a restore, new applications belong to an older edition',
    declaration: 'restore',
    find: 'await defaultToNewestEdition(transaction)',
    replace: '',
  },
  {
    id: 'schema-change-blocks-applicants',
    effect: 'A change of the schema waits for a reader, and applicants wait behind the change',
    declaration: 'applyTogether',
    find: 'lock_timeout = ${lockTimeout}',
    replace: 'lock_timeout = 0',
  },
  {
    id: 'backup-blocks-applicants',
    effect: 'Applicants wait while a backup is made',
    declaration: 'backupLock',
    find: '5_610_744',
    replace: '5_610_746',
  },
  {
    id: 'decisions-deadlock',
    effect: 'Two organisers who decide on the same applications in opposite orders deadlock',
    declaration: 'public.desk_decide',
    find: 'order by id for no key update',
    replace: '',
  },
  {
    id: 'letter-acts-skip-application-lock',
    effect: 'Acts on letters do not lock their applications',
    declaration: 'private.lock_for_letters',
    find: 'order by id for no key update',
    replace: '',
  },
  {
    id: 'letter-acts-lock-unordered',
    effect: 'Acts on letters lock applications in another order than that of their ids',
    declaration: 'private.lock_for_letters',
    find: 'order by id for',
    replace: 'order by id desc for',
  },
  {
    id: 'two-letters-at-once',
    effect: 'Two letters to one person are sent at the same time',
    declaration: 'private.due_mail',
    find: 'not private.is_busy(delivery)',
    replace: 'true',
  },
  {
    id: 'personal-letter-lost',
    effect: 'A personal letter is lost when a decision is made while it is being sent',
    declaration: 'private.settle_letter',
    find: "when template is null then 'draft'",
    replace: "when template is null then 'dropped'",
  },
  {
    id: 'deadline-overwritten-by-repeat',
    effect: 'A repeated request overwrites a deadline that was changed meanwhile',
    declaration: 'public.desk_keep_until',
    find: "private.begin_act(act, 'desk_keep_until', application::text, until::text)",
    replace: 'true',
  },
  {
    id: 'other-email-erased',
    effect: 'Applications of another email are erased with it',
    declaration: 'public.desk_erase',
    find: 'private.person(application.email) is distinct from private.person(desk_erase.email)',
    replace: 'false',
  },
  {
    id: 'limit-misses-arriving',
    effect: 'Applications that arrive while the limit of the door is set are not counted',
    declaration: 'private.refuse_when_closed',
    find: 'perform pg_advisory_xact_lock_shared(5610746);',
    replace: '',
  },
  {
    id: 'limit-waits-for-vacuum',
    effect: 'Applicants wait while the limit of the door waits for a vacuum',
    declaration: 'private.set_door',
    find: 'perform private.hold_applying();',
    replace: 'lock table public.retreat_applications in share row exclusive mode;',
  },
  {
    id: 'delivery-claimed-twice',
    effect: 'Two servers make one delivery',
    declaration: 'private.claim_delivery',
    find: 'for update skip locked',
    replace: '',
  },
  {
    id: 'late-response-recorded',
    effect: 'A late response is recorded for a delivery that another server has claimed',
    declaration: 'private.record_delivery',
    find: 'select * into claimed from private.deliveries where id = delivery and attempts = attempt',
    replace: `attempt := (select attempts from private.deliveries where id = delivery and deliveries.state = 'sending');
    select * into claimed from private.deliveries where id = delivery`,
  },
  {
    id: 'stored-together-delivered-once',
    effect: 'Only one of several applications stored together is delivered',
    declaration: 'private.enqueue_deliveries',
    find: 'from arrived;',
    replace: 'from arrived limit 1;',
  },
]
