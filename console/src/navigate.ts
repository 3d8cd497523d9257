import { navigate } from 'wouter-preact/use-browser-location';
import { accountQuery } from './session.ts';

export const BASE = '/console';

/** Returns the URL of a page of the console, with the selected account in its query. `path` may have a query too. */
export function hrefOf(path: string): string {
  const query = accountQuery.value;
  const whole = path === '/' ? `${BASE}/` : `${BASE}${path}`;
  if (query === '') return whole;
  return `${whole}${whole.includes('?') ? '&' : '?'}${query}`;
}

/** Changes parameters of the current URL. An empty text removes a parameter. */
export function changeQuery(
  changes: Readonly<Record<string, string>>,
  options?: { readonly replace?: boolean },
): void {
  const query = new URLSearchParams(location.search);
  for (const [name, text] of Object.entries({ ...changes, account: '' })) {
    if (text === '') query.delete(name);
    else query.set(name, text);
  }
  const path = location.pathname.slice(BASE.length) || '/';
  goTo(query.size > 0 ? `${path}?${query}` : path, options);
}

export function goTo(path: string, options: { readonly replace?: boolean } = {}): void {
  navigate(hrefOf(path), options);
}
