import { useSearch } from 'wouter-preact';
import { policyCalls } from '../../api/account.ts';
import { CreationPage } from '../../ui/form/creationPage.tsx';
import { useDraft } from '../../ui/form/draft.ts';
import { TextField } from '../../ui/form/fields.tsx';
import { PolicyFields } from './policyFields.tsx';
import { membersOf, type PolicySettings, policySettingsOf, proposedIn } from './settings.ts';

/** Initial settings of a new policy: the defaults of the API. */
const FIRST: PolicySettings = policySettingsOf({
  mode: 'inherit',
  judge_by: 'auto',
  rate: null,
  burst: null,
  unknown_per_second: null,
  profile_sensitivity: null,
  rate_sensitivity: null,
  burst_sensitivity: null,
  only_when_upstream_unhealthy: false,
  comment: '',
});

export function PolicyCreationForm() {
  const search = useSearch();
  const zone = useDraft('zone', new URLSearchParams(search).get('zone') ?? '');
  const settings = useDraft<PolicySettings>('settings', { ...FIRST, ...proposedIn(search) });
  return (
    <CreationPage
      title="New policy for a zone"
      kind="policy"
      kinds="policies"
      list="zones"
      create={(key) => policyCalls.create({ zone: zone.value.trim(), ...membersOf(settings.value) }, key)}
      messageOf={({ item }) => `The policy for ${item.zone} was created.`}
      fields={(failure) => (
        <>
          <TextField
            label="Zone"
            name="zone"
            required
            placeholder="bl.example.com"
            failure={failure}
            note="The policy applies to the zone and all names below it, until a deeper zone with a policy."
            text={zone}
          />
          <PolicyFields
            value={settings.value}
            change={(changed) => (settings.value = changed)}
            failure={failure}
          />
        </>
      )}
    />
  );
}
