import { useSignal } from '@preact/signals';
import { newRetryKey } from '../../api/access.ts';
import type { Failure } from '../../api/failure.ts';
import { readFleet } from '../../api/guard.ts';
import { createRule } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { goTo } from '../../navigate.ts';
import { account, may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { type Settings, SettingsFields } from './settings.tsx';
import { scopeText } from './texts.ts';

const SCOPES = [
  { scope: 'global', title: 'Everywhere' },
  { scope: 'region', title: 'Region' },
  { scope: 'datacenter', title: 'Datacenter' },
] as const;

/** Initial settings of a new rule. The mode `monitoring` drops no queries. */
const FIRST: Settings = {
  mode: 'monitoring',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};

export function RuleCreationForm() {
  const scope = useSignal<Rule['scope']>('global');
  const name = useSignal('');
  const settings = useSignal(FIRST);
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  // Retries send the same idempotency key, so that a lost response does not lead to a second rule.
  const key = useSignal(newRetryKey());
  // Locations of the guards are suggested. Without a guard, there is no suggestion.
  const fleet = useLoaded(readFleet, [account.value]).loaded.value;
  if (!may('dns_protection:write'))
    return (
      <EmptyState title="Your token does not allow creating rules">
        This page requires the permission <code>dns_protection:write</code>.{' '}
        <Link to="/rules">Back to the rules</Link>
      </EmptyState>
    );
  const scopeName = scope.value;
  const places =
    scopeName === 'global'
      ? []
      : [...new Set(fleet.value?.result.flatMap((guard) => guard[scopeName] ?? []))].toSorted();
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    const written = scope.value === 'global' ? name.value.trim() || 'global' : name.value;
    const outcome = await createRule({ scope: scope.value, name: written, ...settings.value }, key.value);
    isBusy.value = false;
    if ('failure' in outcome) {
      failure.value = outcome.failure;
      // After a 4xx, the corrected rule needs a new key. After a 5xx or without a response, the rule may exist: same
      // key.
      if (outcome.failure.status !== undefined && outcome.failure.status < 500) key.value = newRetryKey();
      return;
    }
    const { rule, messages } = outcome.value;
    showToast([`The rule for ${scopeText(rule)} was created, in mode ${rule.mode}.`, ...messages].join(' '));
    goTo(`/rules/${rule.id}`);
  };
  return (
    <div class="page narrow">
      <p class="way-back">
        <Link to="/rules">← All rules</Link>
      </p>
      <h1>New rule</h1>
      <form onSubmit={submit} class="edit-form">
        <fieldset>
          <legend>Scope</legend>
          <div class="choices">
            {SCOPES.map((one) => (
              <label key={one.scope} class="check">
                <input
                  type="radio"
                  name="scope"
                  value={one.scope}
                  checked={scope.value === one.scope}
                  onChange={() => {
                    scope.value = one.scope;
                  }}
                />
                {one.title}
              </label>
            ))}
          </div>
        </fieldset>
        <label>
          {scope.value === 'global' ? 'Label' : `Name of the ${scope.value}`}
          <input
            name="name"
            autocomplete="off"
            spellcheck={false}
            required={scope.value !== 'global'}
            placeholder={{ global: 'global', region: 'WEUR', datacenter: 'lax' }[scope.value]}
            list="known-places"
            value={name.value}
            onInput={({ currentTarget }) => {
              name.value = currentTarget.value;
            }}
          />
          <datalist id="known-places">
            {places.map((place) => (
              <option key={place} value={place} />
            ))}
          </datalist>
          <span class="note">
            The most specific rule applies: datacenter before region before everywhere.
          </span>
        </label>
        <SettingsFields
          value={settings.value}
          change={(changed) => {
            settings.value = changed;
          }}
        />
        {failure.value && <ErrorBox failure={failure.value} />}
        <div class="actions">
          <Link to="/rules" class="button">
            Cancel
          </Link>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Create the rule
          </button>
        </div>
      </form>
    </div>
  );
}
