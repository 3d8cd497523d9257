import type { Signal } from '@preact/signals';
import { newRetryKey } from '../../api/access.ts';
import type { collection, Tagged } from '../../api/collection.ts';
import { goTo } from '../../navigate.ts';
import { showToast } from '../toast.tsx';
import { confirm } from './confirm.tsx';

interface ServiceMembers {
  readonly id: string;
  readonly created_on: string;
  readonly modified_on: string;
}

export interface Deletion<Item extends ServiceMembers> {
  readonly kind: 'rule' | 'policy';
  /** Scope or zone of the record: `region WEUR`. */
  readonly place: string;
  /** Consequence of the deletion. */
  readonly text: string;
  /** Name that the user must type. */
  readonly typed: string;
  readonly calls: Pick<
    ReturnType<typeof collection<Item, Omit<Item, keyof ServiceMembers>, unknown>>,
    'create' | 'delete'
  >;
  /** Address of the list, which is shown after the deletion. */
  readonly list: string;
  /** Becomes false after a failure. After success it stays true, because the user leaves the page. */
  readonly isDeleting: Signal<boolean>;
}

/**
 * Asks the user to type the name of a record, deletes it unless it was changed since it was read, and offers to create
 * it again.
 */
export async function confirmAndDelete<Item extends ServiceMembers>(
  tagged: Tagged<Item>,
  { kind, place, text, typed, calls, list, isDeleting }: Deletion<Item>,
): Promise<void> {
  const isWanted = await confirm({
    ...{ title: `Delete the ${kind} for ${place}?`, text, action: `Delete the ${kind}` },
    ...{ isHarmful: true, typed },
  });
  if (!isWanted) return;
  isDeleting.value = true;
  const outcome = await calls.delete(tagged);
  if ('failure' in outcome) {
    isDeleting.value = false;
    showToast(`Not deleted. ${outcome.failure.what} ${outcome.failure.still}`);
    return;
  }
  goTo(list);
  const { id: _id, created_on: _created, modified_on: _modified, ...creation } = tagged.item;
  showToast(`The ${kind} for ${place} was deleted.`, async () => {
    const made = await calls.create(creation, newRetryKey());
    if ('failure' in made) showToast(`Not restored. ${made.failure.what} ${made.failure.todo}`);
    else showToast(`The ${kind} for ${place} is restored, with a new id.`);
  });
}
