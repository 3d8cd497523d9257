import { useLocation } from 'wouter-preact';
import { EntryDetail } from './detail.tsx';
import { listNames } from './entries.ts';
import { AccessLists } from './list.tsx';

/** Page of access lists: `/lists` shows both, `/lists/denylist/ID` shows an entry. */
export function Lists() {
  const [, , first = '', id = ''] = useLocation()[0].split('/');
  const list = listNames.find((name) => name === first);
  return list === undefined || id === '' ? <AccessLists /> : <EntryDetail key={id} list={list} id={id} />;
}
