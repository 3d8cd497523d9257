import { useSearch } from 'wouter-preact';
import { policyCalls } from '../../api/account.ts';
import { zonesVersion } from '../../live.ts';
import { RecordPage } from '../../ui/form/recordPage.tsx';
import { confirmAndForget } from './confirmAndForget.ts';
import { PolicyFields } from './policyFields.tsx';
import { membersOf, policySettingsOf, policyTitles, proposedIn } from './settings.ts';

export function PolicyDetail({ id }: { readonly id: string }) {
  return (
    <RecordPage
      kind="policy"
      list="/zones"
      id={id}
      calls={policyCalls}
      version={zonesVersion.value}
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
