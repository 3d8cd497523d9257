import { useSearch } from 'wouter-preact';
import { forgetZone, policyCalls } from '../../api/account.ts';
import type { ZonePolicy } from '../../api/types.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { RecordPage } from '../../ui/form/recordPage.tsx';
import { showOutcome } from '../../ui/toast.tsx';
import { PolicyFields } from './policyFields.tsx';
import { membersOf, policySettingsOf, policyTitles, proposedIn } from './settings.ts';

export function PolicyDetail({ id }: { readonly id: string }) {
  return (
    <RecordPage
      kind="policy"
      list="/zones"
      id={id}
      calls={policyCalls}
      nameOf={({ zone }) => zone}
      deletion={async ({ zone }) => ({
        typed: zone,
        text: 'Its names then have the policy of the next higher zone that has one. Otherwise the rule in force applies.',
      })}
      titles={policyTitles}
      settingsOf={policySettingsOf}
      patchOf={membersOf}
      fields={PolicyFields}
      proposed={proposedIn(useSearch())}
      actions={(policy) => (
        <button type="button" onClick={() => void confirmAndForget(policy)}>
          Forget what was learned …
        </button>
      )}
    />
  );
}

async function confirmAndForget({ id, zone }: ZonePolicy): Promise<void> {
  const isWanted = await confirm({
    title: `Forget what was learned about ${zone}?`,
    text: `All guards of the account discard the names, rates, shares and assessments that they learned about ${zone} and the zones below it that this policy covers. They learn them again, as for a new zone. Names from zone files and transfers remain, and so does the policy. This cannot be undone.`,
    action: 'Forget',
    isHarmful: true,
    typed: zone,
  });
  if (!isWanted) return;
  showOutcome(await forgetZone(id), `The guards forget ${zone} within two seconds.`, 'Not forgotten');
}
