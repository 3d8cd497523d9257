/** Shows an attack outside of the page: in the title and icon of the tab, and as notifications if the user wants them. */
import { computed, effect } from '@preact/signals';
import { live } from './live.ts';
import attackMark from './markAttack.svg';
import { goTo } from './navigate.ts';
import { isNotifying } from './notifications.ts';
import { isCurrent } from './pages/attacks/current.ts';
import { zonesText } from './pages/attacks/texts.ts';
import { escapeInvisible } from './ui/value/escapeInvisible.ts';

const ZONES_NAMED = 2;

/** The attacks that go on at the guard of this server, the largest first. */
export const currentAttacks = computed(() =>
  (live.value?.guard?.attacks ?? [])
    .filter((attack) => isCurrent(attack, live.value))
    .toSorted((one, other) => other.now.queries - one.now.queries),
);
export const isAttacked = computed(() => live.value?.guard?.attack === true);

const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
const usualMark = icon?.href ?? '';
effect(() => {
  if (icon) icon.href = isAttacked.value ? attackMark : usualMark;
});

/** Attacks that need no notification. Those in the first message of the live stream began before the page opened. */
let seen: ReadonlySet<string> | undefined;
effect(() => {
  const attacks = live.value?.guard?.attacks;
  if (attacks === undefined) return;
  const begun = seen === undefined ? [] : attacks.filter(({ id }) => !seen?.has(id));
  seen = new Set([...(seen ?? []), ...attacks.map(({ id }) => id)]);
  if (!isNotifying.value) return;
  for (const attack of begun) {
    const title = `Attack on ${escapeInvisible(zonesText(attack, ZONES_NAMED))}`;
    const notice = new Notification(title, { tag: attack.id, body: 'Floodgate: open the attack' });
    notice.onclick = () => {
      window.focus();
      goTo(`/attacks/${attack.id}`);
    };
  }
});
