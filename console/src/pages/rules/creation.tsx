import { useSignal } from '@preact/signals';
import type { Failure } from '../../api/failure.ts';
import { createRule } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { goTo } from '../../navigate.ts';
import { may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { tell } from '../../ui/undo.tsx';
import { type Settings, SettingsFields } from './settings.tsx';
import { placeOf } from './words.ts';

const SCOPES = [
  { scope: 'global', title: 'everywhere' },
  { scope: 'region', title: 'a region' },
  { scope: 'datacenter', title: 'a datacenter' },
] as const;

/** It counts, and refuses nothing. */
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
  // The same key for each attempt: an answer that is lost makes no second rule.
  const key = useSignal(crypto.randomUUID());
  if (!may('dns_protection:write'))
    return (
      <EmptyState title="Your token does not create rules">
        It needs the permission <code>dns_protection:write</code>. <Link to="/rules">Back to the rules</Link>
      </EmptyState>
    );
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    const written = scope.value === 'global' ? name.value.trim() || 'global' : name.value;
    const outcome = await createRule({ scope: scope.value, name: written, ...settings.value }, key.value);
    isBusy.value = false;
    if ('failure' in outcome) {
      failure.value = outcome.failure;
      // Another rule needs another key; without an answer it may have been made, and the same key finds it.
      if (outcome.failure.status !== undefined && outcome.failure.status < 500)
        key.value = crypto.randomUUID();
      return;
    }
    const { rule, messages } = outcome.value;
    tell([`There is a rule for ${placeOf(rule)} now, ${rule.mode}.`, ...messages].join(' '));
    goTo(`/rules/${rule.id}`);
  };
  return (
    <div class="page narrow">
      <p class="way-back">
        <Link to="/rules">← All rules</Link>
      </p>
      <h1>New rule</h1>
      <form onSubmit={submit} class="rule-form">
        <fieldset>
          <legend>Where it applies</legend>
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
            value={name.value}
            onInput={({ currentTarget }) => {
              name.value = currentTarget.value;
            }}
          />
          <span class="note">
            The most specific rule decides: datacenter before region before everywhere.
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
