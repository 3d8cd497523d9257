import { auditCall, readAudit } from '../../api/audit.ts';
import { curlOf } from '../../api/client.ts';
import { account } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { actorOf, type Difference, differencesOf, pathOfSubject, subjectOf, verbOf } from './texts.ts';

/** One change, with all values before and after. */
export function ChangeDetail({ at }: { readonly at: string }) {
  const query = { since: at, until: at, per_page: 1 };
  const { loaded, again } = useLoaded(() => readAudit(query), [at, account.value]);
  const { value, failure } = loaded.value;
  const [change] = value?.result ?? [];
  const path = change && pathOfSubject(change);
  return (
    <div class="page">
      <p class="way-back">
        <Link to="/activity">← All changes</Link>
      </p>
      {failure && <ErrorBox failure={failure} retry={again} />}
      {value === undefined && failure === undefined && <h1 class="quiet">Reading the change …</h1>}
      {value !== undefined && change === undefined && (
        <EmptyState title="Change not found">
          No change of account <code>{account.value}</code> has this time.
        </EmptyState>
      )}
      {change && (
        <>
          <div class="head">
            <h1>
              <UntrustedText text={`${actorOf(change).name} ${verbOf(change)} ${subjectOf(change)}`} />.
            </h1>
            <div class="actions">
              <Copy text={() => JSON.stringify(change, null, 2)} label="Copy as JSON" />
              <Copy text={() => curlOf(auditCall(query))} label="Copy as curl" />
            </div>
          </div>
          <dl class="facts">
            <dt>Time</dt>
            <dd>
              <Time at={change.at} />
            </dd>
            <dt>Actor</dt>
            <dd>
              <UntrustedText text={actorOf(change).name} />{' '}
              <code class="quiet">
                <UntrustedText text={change.by} />
              </code>
            </dd>
            <dt>From</dt>
            <dd>
              <UntrustedText text={change.from} />
            </dd>
            <dt>Object</dt>
            <dd>
              {path === undefined ? (
                <UntrustedText text={subjectOf(change)} />
              ) : (
                <Link to={path}>
                  <UntrustedText text={subjectOf(change)} />
                </Link>
              )}
            </dd>
          </dl>
          {differencesOf(change).length > 0 && (
            <Table
              caption="Values before and after"
              columns={columns}
              rows={differencesOf(change)}
              keyOf={({ name }) => name}
            />
          )}
        </>
      )}
    </div>
  );
}

const columns: readonly Column<Difference>[] = [
  { title: 'Setting', cell: ({ name }) => name },
  { title: 'Before', cell: ({ before }) => <Value text={before} /> },
  { title: 'After', cell: ({ after }) => <Value text={after} /> },
];

const Value = ({ text }: { readonly text: string | undefined }) =>
  text === undefined ? <span class="quiet">–</span> : <UntrustedText text={text} />;
