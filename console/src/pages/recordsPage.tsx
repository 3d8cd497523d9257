import type { ComponentType } from 'preact';
import { useLocation } from 'wouter-preact';

/** Returns the page of a kind of records: `/rules` lists them, `/rules/new` creates one, `/rules/ID` shows one. */
export const recordsPage = (
  List: ComponentType,
  Detail: ComponentType<{ readonly id: string }>,
  Creation?: ComponentType,
): ComponentType =>
  function Records() {
    const id = useLocation()[0].split('/')[2] ?? '';
    if (id === '') return <List />;
    return id === 'new' && Creation ? <Creation /> : <Detail key={id} id={id} />;
  };
