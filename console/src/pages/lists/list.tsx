import { useMemo } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { type AccessEntry, type AccessListName, listEntries } from '../../api/lists.ts';
import { csvOf } from '../../csv.ts';
import { refreshPeriod } from '../../live.ts';
import { goTo } from '../../navigate.ts';
import { account, may } from '../../session.ts';
import { Copy } from '../../ui/copy.tsx';
import { EmptyState } from '../../ui/emptyState.tsx';
import { ErrorBox } from '../../ui/errorBox.tsx';
import { Link } from '../../ui/link.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { UntrustedText } from '../../ui/untrustedText.tsx';
import { useLoaded } from '../../ui/useLoaded.ts';
import { confirmAndDelete } from './actions.tsx';
import { entryValue, listNames, listsHeadline, listTexts } from './entries.ts';

/** Period after which the lists are read again: the live stream does not report their ETags. */
const REFRESH_MS = 10_000;
const CSV_HEADINGS = ['list', 'network or name', 'enabled', 'comment', 'created (UTC)', 'modified (UTC)'];

export function AccessLists() {
  const text = new URLSearchParams(useSearch()).get('text') ?? '';
  const on = [account.value, refreshPeriod(REFRESH_MS)];
  const denied = useLoaded(() => listEntries('denylist'), on);
  const allowed = useLoaded(() => listEntries('allowlist'), on);
  const entries = {
    denylist: denied.loaded.value.value?.result,
    allowlist: allowed.loaded.value.value?.result,
  };
  const failure = denied.loaded.value.failure ?? allowed.loaded.value.failure;
  const again = () => {
    denied.again();
    allowed.again();
  };
  const csv = () =>
    csvOf([
      CSV_HEADINGS,
      ...listNames.flatMap((list) => (entries[list] ?? []).map((entry) => rowOf(list, entry))),
    ]);
  // Both tables appear together, so that the second one does not move.
  const isReady = entries.denylist !== undefined && entries.allowlist !== undefined;
  return (
    <div class="page lists">
      <div class="head">
        <h1>{listsHeadline(entries.denylist, entries.allowlist)}</h1>
        <div class="actions">
          <Copy text={csv} label="Copy as CSV" />
          <label>
            <span class="unseen">Search by network, name or comment</span>
            <input
              type="search"
              data-search
              placeholder="Network, name  ( / )"
              autocomplete="off"
              spellcheck={false}
              value={text}
              onInput={({ currentTarget: { value } }) =>
                goTo(value === '' ? '/lists' : `/lists?text=${encodeURIComponent(value)}`, { replace: true })
              }
            />
          </label>
          {may('dns_protection:write') && (
            <Link to="/lists/new" class="button primary">
              New entry
            </Link>
          )}
        </div>
      </div>
      {failure && <ErrorBox failure={failure} retry={again} />}
      {isReady &&
        listNames.map((list) => (
          <Section key={list} list={list} entries={entries[list] ?? []} text={text} changed={again} />
        ))}
    </div>
  );
}

const rowOf = (list: AccessListName, entry: AccessEntry): string[] => [
  ...[list, entryValue(entry), String(entry.enabled), entry.comment, entry.created_on, entry.modified_on],
];

interface SectionProps {
  readonly list: AccessListName;
  readonly entries: readonly AccessEntry[];
  readonly text: string;
  readonly changed: () => void;
}

function Section({ list, entries, text, changed }: SectionProps) {
  const { past, effect } = listTexts[list];
  const columns = useMemo(() => columnsOf(list, changed), [list]);
  const sought = text.trim().toLowerCase();
  const isMatch = (entry: AccessEntry) =>
    `${entryValue(entry)} ${entry.comment}`.toLowerCase().includes(sought);
  const found = entries.filter(isMatch).toReversed();
  return (
    <section>
      <h2>{list === 'denylist' ? 'Denied' : 'Allowed'}</h2>
      <p class="quiet">{effect}</p>
      {entries.length === 0 && (
        <EmptyState
          title={`Nothing is ${past}`}
          lines={[
            `list="${location.origin}/client/v4/accounts/${account.value}/network/advanced_dns_protection/configs/${list}"`,
            `curl "$list" -H "Authorization: Bearer $FLOODGATE_TOKEN" --data '${list === 'denylist' ? '{"prefix":"198.51.100.0/24"}' : '{"name":"dyn.example.com"}'}'`,
          ].join('\n')}
        >
          {may('dns_protection:write') ? (
            <>
              <Link to={`/lists/new?list=${list}`}>Add an entry here</Link>, or in a shell:
            </>
          ) : (
            'A token with write permission can add an entry:'
          )}
        </EmptyState>
      )}
      {entries.length > 0 && found.length === 0 && <p class="quiet">No entry matches the search.</p>}
      {found.length > 0 && (
        <Table
          caption={list === 'denylist' ? 'Denied networks and names' : 'Allowed networks and names'}
          columns={columns}
          rows={found}
          keyOf={({ id }) => id}
        />
      )}
    </section>
  );
}

function columnsOf(list: AccessListName, changed: () => void): readonly Column<AccessEntry>[] {
  return [
    {
      title: 'Network or name',
      cell: (entry) => (
        <span>
          <Link to={`/lists/${list}/${entry.id}`}>
            <UntrustedText text={entryValue(entry)} />
          </Link>
          {'name' in entry && <span class="quiet"> and all names below it</span>}
        </span>
      ),
    },
    {
      title: 'State',
      cell: ({ enabled }) =>
        enabled ? `● ${listTexts[list].past}` : <span class="quiet">○ switched off</span>,
    },
    { title: 'Comment', cell: ({ comment }) => <UntrustedText text={comment} /> },
    { title: 'Changed', isNumber: true, cell: ({ modified_on }) => <Time at={modified_on} /> },
    ...(may('dns_protection:write')
      ? [
          {
            title: 'Action',
            isNumber: true,
            cell: (entry: AccessEntry) => (
              <button
                type="button"
                onClick={async () => {
                  await confirmAndDelete(list, entry.id);
                  changed();
                }}
              >
                Delete<span class="unseen"> {entryValue(entry)}</span>
              </button>
            ),
          },
        ]
      : []),
  ];
}
