import type { ComponentChildren } from 'preact';
import type { Tagged } from '../../api/collection.ts';
import type { Failure, Outcome } from '../../api/failure.ts';
import { newRetryKey } from '../../api/server.ts';
import { goTo } from '../../navigate.ts';
import { may } from '../../session.ts';
import { useAction } from '../../ui/useAction.ts';
import { EmptyState } from '../emptyState.tsx';
import { ErrorBox } from '../errorBox.tsx';
import { Link } from '../link.tsx';
import { showToast } from '../toast.tsx';
import { forgetDraft, useDraft } from './draft.ts';

export interface CreationPageProps<Item> {
  readonly title: string;
  readonly kind: 'rule' | 'policy';
  readonly kinds: 'rules' | 'policies';
  /** Name of the list of these records, which is also its path. */
  readonly list: 'rules' | 'zones';
  /** Creates the record. Requests with one idempotency key create at most one record. */
  readonly create: (key: string) => Promise<Outcome<Tagged<Item>>>;
  readonly messageOf: (created: Tagged<Item>) => string;
  readonly fields: (failure: Failure | undefined) => ComponentChildren;
}

export function CreationPage<Item extends { readonly id: string }>({
  title,
  kind,
  kinds,
  list,
  create,
  messageOf,
  fields,
}: CreationPageProps<Item>) {
  const { failure, isBusy, run } = useAction();
  // Retries send the same idempotency key, so that a lost response does not lead to a second record or a conflict.
  const key = useDraft('key', newRetryKey());
  if (!may('dns_protection:write'))
    return (
      <EmptyState isPage title={`Your token does not allow creating ${kinds}`}>
        This page requires the permission <code>dns_protection:write</code>.{' '}
        <Link to={`/${list}`}>Back to the {list}</Link>
      </EmptyState>
    );
  const submit = async (event: Event) => {
    event.preventDefault();
    const outcome = await run(create(key.value));
    if ('failure' in outcome) {
      // After a 4xx, the corrected record needs a new key. After a 5xx or without a response, the record may exist:
      // same key.
      if (outcome.failure.status !== undefined && outcome.failure.status < 500) key.value = newRetryKey();
      return;
    }
    forgetDraft();
    showToast(messageOf(outcome.value));
    goTo(`/${list}/${outcome.value.item.id}`);
  };
  return (
    <div class="page narrow">
      <p class="way-back">
        <Link to={`/${list}`}>← All {list}</Link>
      </p>
      <h1>{title}</h1>
      <form onSubmit={submit} class="edit-form">
        {fields(failure)}
        {failure && <ErrorBox failure={failure} />}
        <div class="actions">
          <Link to={`/${list}`} class="button" leave={forgetDraft}>
            Cancel
          </Link>
          <button type="submit" class="primary" disabled={isBusy}>
            Create the {kind}
          </button>
        </div>
      </form>
    </div>
  );
}
