/** Keys: `/` goes to the search of a page, `g` and a letter to a page, `?` lists them. */
import { signal } from '@preact/signals';
import { goTo } from './navigate.ts';
import { shownPages } from './pages/index.ts';

export const isKeyListOpen = signal(false);

/** A `g` waits so long for its letter. */
const CHORD_MS = 1_500;
let chordUntilMs = 0;

export function listenForKeys(): () => void {
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const isChord = performance.now() < chordUntilMs;
  chordUntilMs = 0;
  const page = isChord ? shownPages.value.find(({ key }) => key === event.key) : undefined;
  if (page !== undefined) goTo(page.path);
  else if (event.key === 'g') chordUntilMs = performance.now() + CHORD_MS;
  else if (event.key === '/') document.querySelector<HTMLElement>('[data-search]')?.focus();
  else if (event.key === '?') isKeyListOpen.value = true;
  else return;
  event.preventDefault();
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
