import { createHash } from 'node:crypto';
import type { Collection, CreatedItem } from '../client/index.ts';

/** Maximum number of times that an item was created and deleted while its retry keys are valid. Far above real use. */
const MAX_DELETED_BEFORE = 100;

/**
 * Creates a rule or zone policy one time, even if another client applies the same plan at the same time. Both clients
 * pass the same `seed`, from which the retry key is derived, so the server creates one item and returns it to both. If
 * an item that was created with a key is deleted by now, the next key is derived from that key and the id of the
 * deleted item.
 */
export async function createOnce<Item extends { readonly id: string }, New, Changes>(
  collection: Collection<Item, New, Changes>,
  item: New,
  seed: unknown,
): Promise<CreatedItem<Item>> {
  let key = keyOf(seed);
  for (let deleted = 0; deleted < MAX_DELETED_BEFORE; deleted++) {
    const created = await collection.create(item, key);
    if (!created.replayed || (await collection.has(created.item.id))) return created;
    key = keyOf([key, created.item.id]);
  }
  return collection.create(item);
}

function keyOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
