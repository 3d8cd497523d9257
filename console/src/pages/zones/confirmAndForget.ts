import { forgetZone } from '../../api/account.ts';
import type { ZonePolicy } from '../../api/types.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { showFailure, showToast } from '../../ui/toast.tsx';

export async function confirmAndForget({ id, zone }: ZonePolicy): Promise<void> {
  const isWanted = await confirm({
    title: `Forget what was learned about ${zone}?`,
    text: `All guards of the account discard the names, rates, shares and assessments that they learned about ${zone} and the zones below it that this policy covers. They learn them again, as for a new zone. Names from zone files and transfers remain, and so does the policy. This cannot be undone.`,
    action: 'Forget',
    isHarmful: true,
    typed: zone,
  });
  if (!isWanted) return;
  const outcome = await forgetZone(id);
  if ('failure' in outcome) showFailure('Not forgotten', outcome.failure);
  else showToast(`The guards forget ${zone} within two seconds.`);
}
