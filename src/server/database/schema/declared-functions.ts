import { declaredFiles } from './declared-files.ts'
import { statementsOf } from './statements.ts'

const declarations = declaredFiles.flatMap(({ ledger, text }) =>
  statementsOf(text).map((sql) => ({ ledger, sql })),
)

/** The name in a statement that makes a function, with its schema. */
const functionName = /^create (?:or replace )?function ([\w.]+)/m

/** The declared functions, by schema and name, in the order of their files: one may need another. */
export const declaredFunctions = declarations.flatMap(({ ledger, sql }) => {
  const name = functionName.exec(sql)?.[1]
  return name === undefined ? [] : [{ name, ledger, sql }]
})

/** The statements that give rights on functions. Each can be repeated. */
const grants = declarations
  .map(({ sql }) => sql)
  .filter((sql) => /^(?:grant execute on function|do \$\$\n[^]*grant execute on function)/m.test(sql))

/** A block that makes a function, or replaces the one of this name, also if the names of its parameters or its result differ. */
function replaceFunction(name: string, sql: string): string {
  return `do $replacing$
declare
  declared constant text := $function$
${sql.replace(/^create function/m, 'create or replace function')}$function$;
begin
  execute declared;
exception when invalid_function_definition then
  drop function ${name};
  execute declared;
end
$replacing$;`
}

/** A text of SQL whose functions are made, or replace those of the same names. */
export function replaceFunctions(text: string): string {
  return statementsOf(text)
    .map((sql) => {
      const name = functionName.exec(sql)?.[1]
      return name === undefined ? sql : replaceFunction(name, sql)
    })
    .join('\n\n')
}

/**
 * The SQL that gives a database of our server the declared functions and their rights, whatever functions an earlier declaration
 * made.
 *
 * @param isHostedProject Whether the database is a hosted project's, whose schema `auth` is not ours.
 */
export function scriptOfFunctions(isHostedProject: boolean): string {
  const functions = declaredFunctions.filter(({ name }) => !isHostedProject || !name.startsWith('auth.'))
  const names = functions.map(({ name }) => name)
  return [
    ...functions.map(({ name, sql }) => replaceFunction(name, sql)),
    // The overload that was made first has the arguments of an earlier declaration.
    `do $dropping$
declare
  former text;
begin
  for former in
    select function.oid::regprocedure from pg_proc as function join pg_proc as later using (pronamespace, proname)
    where pronamespace::regnamespace || '.' || proname = any ('{${names.join(',')}}') and later.oid > function.oid
  loop
    execute 'drop function ' || former;
  end loop;
end
$dropping$;`,
    `revoke all on function ${names.filter((name) => name.startsWith('private.')).join(', ')}
  from public, anon, authenticated;`,
    ...grants,
  ].join('\n\n')
}

/** The SQL that drops the functions of an earlier script which a later one lacks. */
export function scriptOfDropped(former: string, current: string): string {
  const namesIn = (script: string) =>
    Array.from(script.matchAll(new RegExp(functionName, 'gm')), ([, name = '']) => name)
  const kept = new Set(namesIn(current))
  const dropped = [...new Set(namesIn(former))].filter((name) => !kept.has(name))
  return dropped.map((name) => `drop function if exists ${name};`).join('\n')
}
