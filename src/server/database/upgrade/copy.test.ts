import { expect, test } from 'vitest'

import { openTestDatabase } from '../../../../test/support/database.ts'
import { anApplication } from '../../../../test/support/form.ts'
import { copyDatabase } from './copy.ts'
import { valuesOf } from '../../../../test/support/sql.ts'

test('nobody can write to copied rows until the transaction of the copy ends, and the copy replaces other rows', async () => {
  const [from, to] = [await openTestDatabase(), await openTestDatabase()]
  await from.owner`insert into public.retreat_applications ${valuesOf(anApplication())}`
  await to.owner`insert into public.retreat_applications ${valuesOf([anApplication(), anApplication()])}`
  const write = () =>
    from.owner.begin(async (transaction) => {
      await transaction`set local lock_timeout = 100`
      await transaction`insert into public.retreat_applications ${valuesOf(anApplication())}`
    })
  await from.owner.begin(async (transaction) => {
    await copyDatabase(transaction, to.owner)
    await expect(write()).rejects.toThrow('lock timeout')
  })
  await write()
  const counted = await to.owner<{ count: number }[]>`
    select count(*)::integer from public.retreat_applications`
  expect(counted[0]?.count).toBe(1)
})

test('a copy fails if a copied row differs from the original', async () => {
  const [from, to] = [await openTestDatabase(), await openTestDatabase()]
  await from.owner`insert into public.retreat_applications ${valuesOf(anApplication())}`
  await to.owner`
    create function public.spoil() returns trigger language plpgsql as $$
    begin new.first_name := 'Somebody else'; return new; end $$`
  await to.owner`create trigger spoil before insert on public.retreat_applications
    for each row execute function public.spoil()`
  await to.owner`alter table public.retreat_applications enable replica trigger spoil`
  await expect(from.owner.begin((transaction) => copyDatabase(transaction, to.owner))).rejects.toThrow(
    'public.retreat_applications is not the same after it was copied',
  )
})
