import type { Failure, Outcome } from '../../api/failure.ts';
import { type AccessListName, entryCalls } from '../../api/lists.ts';
import { may } from '../../session.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { showToast } from '../../ui/toast.tsx';
import { entryValue, isListableName, listTexts, newEntryOf, sameEntry } from './entries.ts';

const VERBS = { denylist: 'Deny', allowlist: 'Allow' } as const;

export interface ListButtonProps {
  readonly list: AccessListName;
  /** Network or name. For a name that no list can contain, such as a pattern, no button is shown. */
  readonly value: string;
  readonly isName?: boolean;
  /** Comment of the entry: the table in which the user found the network or name. */
  readonly comment: string;
}

/** Button in a table that denies or allows the network or name of its row, after a confirmation. */
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
  if ('failure' in outcome) showToast(`Not ${listTexts[list].past}. ${faultText(outcome.failure)}`);
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
    if ('failure' in undone) showToast(`Not undone. ${undone.failure.what}`);
    else showToast(`Undone: ${shown} is not ${past} any more.`);
  });
  return { value: undefined };
}

/** Deletes an entry after a confirmation, unless it was changed since it was read, and offers to create it again. */
export async function confirmAndDelete(list: AccessListName, id: string): Promise<void> {
  const read = await entryCalls[list].read(id);
  if ('failure' in read) return showToast(`Not deleted. ${faultText(read.failure)}`);
  const { id: _id, created_on: _created, modified_on: _modified, ...creation } = read.value.item;
  const value = entryValue(creation);
  const isWanted = await confirm({
    title: `Delete ${value} from the ${list}?`,
    text: 'From the next query on, the rule in force applies to it. You can undo this for 10 seconds.',
    ...{ action: 'Delete', isHarmful: true },
  });
  if (!isWanted) return;
  const outcome = await entryCalls[list].delete(read.value);
  if ('failure' in outcome) return showToast(`Not deleted. ${faultText(outcome.failure)}`);
  showToast(`${value} is not ${listTexts[list].past} any more.`, async () => {
    const made = await entryCalls[list].create(creation);
    if ('failure' in made) showToast(`Not restored. ${faultText(made.failure)}`);
    else showToast(`Undone: ${value} is on the ${list} again, with a new id.`);
  });
}

const faultText = ({ what, faults }: Failure): string =>
  [what, ...faults.map(({ message }) => message)].join(' ');
