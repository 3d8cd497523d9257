import type { Signal } from '@preact/signals';
import { newRetryKey } from '../../api/access.ts';
import {
  createPolicy,
  deletePolicy,
  forgetZone,
  type TaggedPolicy,
  type ZonePolicy,
} from '../../api/zones.ts';
import { goTo } from '../../navigate.ts';
import { confirm } from '../../ui/confirm.tsx';
import { showToast } from '../../ui/toast.tsx';

/**
 * Asks the user to type the name of the zone, deletes its policy unless it was changed since it was read, and offers
 * to create it again. `isDeleting` becomes false after a failure.
 */
export async function confirmAndDelete(tagged: TaggedPolicy, isDeleting: Signal<boolean>): Promise<void> {
  const { id: _id, created_on: _created, modified_on: _modified, ...creation } = tagged.policy;
  const { zone } = creation;
  const isWanted = await confirm({
    title: `Delete the policy for ${zone}?`,
    text: 'Its names then have the policy of the next higher zone that has one. Otherwise the rule in force applies.',
    ...{ action: 'Delete the policy', isHarmful: true, typed: zone },
  });
  if (!isWanted) return;
  isDeleting.value = true;
  const outcome = await deletePolicy(tagged);
  if ('failure' in outcome) {
    isDeleting.value = false;
    showToast(`Not deleted. ${outcome.failure.what} ${outcome.failure.still}`);
    return;
  }
  goTo('/zones');
  showToast(`The policy for ${zone} was deleted.`, async () => {
    const made = await createPolicy(creation, newRetryKey());
    if ('failure' in made) showToast(`Not restored. ${made.failure.what} ${made.failure.todo}`);
    else showToast(`The policy for ${zone} is restored, with a new id.`);
  });
}

/** Asks the user to type the name of the zone, and lets all guards of the account forget it. */
export async function confirmAndForget({ id, zone }: ZonePolicy): Promise<void> {
  const isWanted = await confirm({
    title: `Forget what was learned about ${zone}?`,
    text: `All guards of the account discard the names, rates, shares and assessments that they learned about ${zone} and the zones below it that this policy covers. They learn them again, as for a new zone. Names from zone files and transfers remain, and so does the policy. This cannot be undone.`,
    ...{ action: 'Forget', isHarmful: true, typed: zone },
  });
  if (!isWanted) return;
  const outcome = await forgetZone(id);
  showToast(
    'failure' in outcome
      ? `Not forgotten. ${outcome.failure.what} ${outcome.failure.todo}`
      : `The guards forget ${zone} within two seconds.`,
  );
}
