import { expect, it } from 'vitest';
import type { Collection, CreatedItem } from '../client/index.ts';
import { createOnce } from './createOnce.ts';

type Item = { readonly id: string };

/** Creates an item on a server that stored an item for each of the first `used` keys, and has only `existing` left. */
async function created(used: number, existing: readonly string[]): Promise<CreatedItem<Item>> {
  const keys: (string | undefined)[] = [];
  const server = {
    create: (_: object, key?: string) => {
      keys.push(key);
      const id = String(keys.length);
      return Promise.resolve({ item: { id }, messages: [], replayed: keys.length <= used });
    },
    has: (id: string) => Promise.resolve(existing.includes(id)),
  };
  const result = await createOnce(server as unknown as Collection<Item, object, object>, {}, 'seed');
  expect(new Set(keys).size).toBe(keys.length);
  return result;
}

it('createOnce returns the item of an earlier request if it exists, and otherwise uses another retry key', async () => {
  expect(await created(0, [])).toMatchObject({ item: { id: '1' }, replayed: false });
  expect(await created(1, ['1'])).toMatchObject({ item: { id: '1' }, replayed: true });
  expect(await created(1, [])).toMatchObject({ item: { id: '2' }, replayed: false });
});
