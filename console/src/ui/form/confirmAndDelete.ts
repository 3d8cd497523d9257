import type { Signal } from '@preact/signals';
import type { Tagged } from '../../api/collection.ts';
import type { Outcome } from '../../api/failure.ts';
import { newRetryKey } from '../../api/server.ts';
import { goTo } from '../../navigate.ts';
import { showFailure, showOutcome, showToast } from '../toast.tsx';
import { confirm, type Question } from './confirm.tsx';

export interface StoredRecord {
  readonly id: string;
  readonly created_on: string;
  readonly modified_on: string;
}

export interface Deletion<Item extends StoredRecord> {
  readonly question: Omit<Question, 'isHarmful'>;
  /** Messages after the deletion, and after the record was created again. */
  readonly deleted: string;
  readonly restored: string;
  readonly calls: {
    readonly delete: (tagged: Tagged<Item>) => Promise<Outcome<unknown>>;
    readonly create: (body: never, key: string) => Promise<Outcome<unknown>>;
  };
  /** Address of the list, which is shown after the deletion. Default: the current page. */
  readonly list?: string;
  /** Becomes false after a failure. After success it stays true, because the user leaves the page. */
  readonly isDeleting?: Signal<boolean>;
}

/** Asks the user, deletes a record unless it was changed since it was read, and offers to create it again. */
export async function confirmAndDelete<Item extends StoredRecord>(
  tagged: Tagged<Item>,
  { question, deleted, restored, calls, list, isDeleting }: Deletion<Item>,
): Promise<void> {
  if (!(await confirm({ ...question, isHarmful: true }))) return;
  if (isDeleting) isDeleting.value = true;
  const outcome = await calls.delete(tagged);
  if ('failure' in outcome) {
    if (isDeleting) isDeleting.value = false;
    showFailure('Not deleted', outcome.failure);
    return;
  }
  if (list !== undefined) goTo(list);
  const { id: _id, created_on: _created, modified_on: _modified, ...creation } = tagged.item;
  showToast(deleted, async () => {
    const made = await calls.create(creation as never, newRetryKey()); // the members of a creation
    showOutcome(made, restored, 'Not restored');
  });
}
