import { entryCalls } from '../../api/account.ts';
import type { Outcome } from '../../api/failure.ts';
import type { AccessListName } from '../../api/types.ts';
import { may } from '../../session.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { confirmAndDelete } from '../../ui/form/confirmAndDelete.ts';
import { showFailure, showOutcome, showToast } from '../../ui/toast.tsx';
import { DELETED, entryValue, isListableName, listTexts, newEntryOf, sameEntry } from './entries.ts';

const VERBS = { denylist: 'Deny', allowlist: 'Allow' } as const;

export interface ListButtonProps {
  readonly list: AccessListName;
  /** Network or name. For a name that no list can contain, such as a pattern, no button is shown. */
  readonly value: string;
  readonly isName?: boolean;
  /** Comment of the entry: the table in which the user found the network or name. */
  readonly comment: string;
}

export function ListButton({ list, value, isName = false, comment }: ListButtonProps) {
  if (!may('dns_protection:write') || (isName && !isListableName(value))) return null;
  return (
    <button type="button" class="list-button" onClick={() => void confirmAndAdd(list, value, comment)}>
      {VERBS[list]}
      <span class="unseen"> {value}</span>
    </button>
  );
}

async function confirmAndAdd(list: AccessListName, value: string, comment: string): Promise<void> {
  const forged =
    list === 'denylist'
      ? ' The source of a UDP packet can be forged, so you may deny an innocent client.'
      : '';
  const isWanted = await confirm({
    title: `${VERBS[list]} ${value}?`,
    text: `From the next query on, it is ${listTexts[list].past}. ${listTexts[list].effect}${forged} You can undo this for 10 seconds.`,
    action: `${VERBS[list]} ${value}`,
    isHarmful: list === 'denylist',
  });
  if (!isWanted) return;
  const outcome = await addEntry(list, value, comment);
  if ('failure' in outcome) showFailure(`Not ${listTexts[list].past}`, outcome.failure);
}

/**
 * Adds an entry unless the list has it, and offers to undo this. The API would add it twice if a lost response led to
 * a second request.
 */
export async function addEntry(
  list: AccessListName,
  value: string,
  comment: string,
): Promise<Outcome<undefined>> {
  const { past } = listTexts[list];
  const known = await entryCalls[list].list();
  if ('failure' in known) return known;
  if (sameEntry(known.value.result, value) !== undefined) {
    showToast(`${value} is already ${past}.`);
    return { value: undefined };
  }
  const made = await entryCalls[list].create(newEntryOf(value, comment));
  if ('failure' in made) return made;
  const shown = entryValue(made.value.item);
  showToast(`${shown} is ${past}.`, async () => {
    const undone = await entryCalls[list].delete(made.value);
    showOutcome(undone, `Undone: ${shown} is not ${past} any more.`);
  });
  return { value: undefined };
}

export async function confirmAndDeleteEntry(list: AccessListName, id: string): Promise<void> {
  const read = await entryCalls[list].read(id);
  if ('failure' in read) return showFailure('Not deleted', read.failure);
  const value = entryValue(read.value.item);
  await confirmAndDelete(read.value, {
    question: {
      title: `Delete ${value} from the ${list}?`,
      text: DELETED,
      action: 'Delete',
    },
    deleted: `${value} is not ${listTexts[list].past} any more.`,
    restored: `Undone: ${value} is on the ${list} again, with a new id.`,
    calls: entryCalls[list],
  });
}
