import './lists.css';
import { useLocation } from 'wouter-preact';
import type { AccessListName } from '../../api/lists.ts';
import { EntryCreationForm } from './creation.tsx';
import { EntryDetail } from './detail.tsx';
import { listNames } from './entries.ts';
import { AccessLists } from './list.tsx';

/** Page of access lists: `/lists` shows both, `/lists/new` adds an entry, `/lists/denylist/ID` shows an entry. */
export function Lists() {
  const [, , first = '', id = ''] = useLocation()[0].split('/').map(decodeURIComponent);
  const list: AccessListName | undefined = listNames.find((name) => name === first);
  if (first === 'new') return <EntryCreationForm />;
  if (list !== undefined && id !== '') return <EntryDetail key={id} list={list} id={id} />;
  return <AccessLists />;
}
