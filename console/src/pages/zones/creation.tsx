import { useSignal } from '@preact/signals';
import { useSearch } from 'wouter-preact';
import { newRetryKey } from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { createPolicy } from '../../api/zones.ts';
import { goTo } from '../../navigate.ts';
import { may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { errorAttributes, FieldError } from '../../ui/fieldError.tsx';
import { Link } from '../../ui/link.tsx';
import { TextInput } from '../../ui/textInput.tsx';
import { showToast } from '../../ui/toast.tsx';
import { PolicyFields } from './policyFields.tsx';
import { membersOf, type PolicySettings, policySettingsOf, proposedIn } from './settings.ts';

/** Initial settings of a new policy: the defaults of the API. */
const FIRST: PolicySettings = policySettingsOf({
  ...{ mode: 'inherit', judge_by: 'auto', rate: null, burst: null, unknown_per_second: null },
  ...{ profile_sensitivity: null, rate_sensitivity: null, burst_sensitivity: null },
  ...{ only_when_upstream_unhealthy: false, comment: '' },
});

export function PolicyCreationForm() {
  const search = useSearch();
  const zone = useSignal(new URLSearchParams(search).get('zone') ?? '');
  const settings = useSignal<PolicySettings>({ ...FIRST, ...proposedIn(search) });
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  // Retries send the same idempotency key, so that a lost response does not lead to a conflict.
  const key = useSignal(newRetryKey());
  if (!may('dns_protection:write'))
    return (
      <EmptyState title="Your token does not allow creating policies">
        This page requires the permission <code>dns_protection:write</code>.{' '}
        <Link to="/zones">Back to the zones</Link>
      </EmptyState>
    );
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    const outcome = await createPolicy({ zone: zone.value.trim(), ...membersOf(settings.value) }, key.value);
    isBusy.value = false;
    if ('failure' in outcome) {
      failure.value = outcome.failure;
      // After a 4xx, the corrected policy needs a new key. After a 5xx or without a response, the policy may exist.
      if (outcome.failure.status !== undefined && outcome.failure.status < 500) key.value = newRetryKey();
      return;
    }
    const { policy } = outcome.value;
    showToast(`The policy for ${policy.zone} was created.`);
    goTo(`/zones/${policy.id}`);
  };
  return (
    <div class="page narrow">
      <p class="way-back">
        <Link to="/zones">← All zones</Link>
      </p>
      <h1>New policy for a zone</h1>
      <form onSubmit={submit} class="edit-form">
        <div>
          <label>
            Zone
            <TextInput
              name="zone"
              required
              placeholder="bl.example.com"
              text={zone}
              {...errorAttributes({ failure: failure.value, name: 'zone' })}
            />
            <span class="note">
              The policy applies to the zone and all names below it, until a deeper zone with a policy.
            </span>
          </label>
          <FieldError failure={failure.value} name="zone" />
        </div>
        <PolicyFields
          value={settings.value}
          change={(changed) => {
            settings.value = changed;
          }}
          failure={failure.value}
        />
        {failure.value && <ErrorBox failure={failure.value} />}
        <div class="actions">
          <Link to="/zones" class="button">
            Cancel
          </Link>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Create the policy
          </button>
        </div>
      </form>
    </div>
  );
}
