import type { Signal } from '@preact/signals';
import type { Tagged } from '../../api/collection.ts';
import { forgetZone, policyCalls, type ZonePolicy } from '../../api/zones.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { confirmAndDelete } from '../../ui/form/confirmAndDelete.ts';
import { showToast } from '../../ui/toast.tsx';

export const confirmAndDeletePolicy = (
  tagged: Tagged<ZonePolicy>,
  isDeleting: Signal<boolean>,
): Promise<void> =>
  confirmAndDelete(tagged, {
    ...{ kind: 'policy', place: tagged.item.zone, typed: tagged.item.zone },
    text: 'Its names then have the policy of the next higher zone that has one. Otherwise the rule in force applies.',
    ...{ calls: policyCalls, list: '/zones', isDeleting },
  });

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
