import { useSignal } from '@preact/signals';
import { useSearch } from 'wouter-preact';
import type { Failure } from '../../api/failure.ts';
import { goTo } from '../../navigate.ts';
import { may } from '../../session.ts';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { errorAttributes, FieldError } from '../../ui/fieldError.tsx';
import { Link } from '../../ui/link.tsx';
import { TextInput } from '../../ui/textInput.tsx';
import { addEntry } from './actions.tsx';
import { isNetwork, listNames, listTexts } from './entries.ts';

/** Form that adds an entry. The URL can fill it in: `?list=denylist&value=192.0.2.0/24`. */
export function EntryCreationForm() {
  const asked = new URLSearchParams(useSearch());
  const list = useSignal(listNames.find((name) => name === asked.get('list')) ?? 'denylist');
  const value = useSignal(asked.get('value') ?? '');
  const comment = useSignal('');
  const failure = useSignal<Failure | undefined>(undefined);
  const isBusy = useSignal(false);
  if (!may('dns_protection:write'))
    return (
      <EmptyState title="Your token does not allow adding entries">
        This page requires the permission <code>dns_protection:write</code>.{' '}
        <Link to="/lists">Back to the lists</Link>
      </EmptyState>
    );
  const text = value.value.trim();
  const field = isNetwork(text) ? 'prefix' : 'name';
  const submit = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    const outcome = await addEntry(list.value, text, comment.value);
    isBusy.value = false;
    failure.value = 'failure' in outcome ? outcome.failure : undefined;
    if ('value' in outcome) goTo('/lists');
  };
  return (
    <div class="page narrow">
      <p class="way-back">
        <Link to="/lists">← Both lists</Link>
      </p>
      <h1>New entry of an access list</h1>
      <form onSubmit={submit} class="edit-form">
        <fieldset>
          <legend>List</legend>
          {listNames.map((name) => (
            <label key={name} class="check">
              <input
                type="radio"
                name="list"
                value={name}
                checked={list.value === name}
                onChange={() => {
                  list.value = name;
                }}
              />
              <span>
                {name === 'denylist' ? 'Deny' : 'Allow'} <span class="quiet">{listTexts[name].effect}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div>
          <label>
            Network or name
            <TextInput
              name="value"
              required
              placeholder="198.51.100.0/24, 2001:db8::/32 or dyn.example.com"
              text={value}
              {...errorAttributes({ failure: failure.value, name: field })}
            />
            <span class="note">
              {text === ''
                ? 'A network or address of clients, or a domain name.'
                : field === 'prefix'
                  ? 'A network: the entry applies to queries of its clients.'
                  : 'A name: the entry applies to queries for it and for all names below it.'}
            </span>
          </label>
          <FieldError failure={failure.value} name={field} />
        </div>
        <label>
          Comment
          <TextInput name="comment" maxLength={256} text={comment} />
        </label>
        {failure.value && <ErrorBox failure={failure.value} />}
        <div class="actions">
          <Link to="/lists" class="button">
            Cancel
          </Link>
          <button type="submit" class="primary" disabled={isBusy.value}>
            Add the entry
          </button>
        </div>
      </form>
    </div>
  );
}
