/** The pages, in the order of the bar. The only place that knows all of them. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { may } from '../session.ts';
import { Attacks } from './attacks.tsx';
import { Now } from './now.tsx';
import { Rules } from './rules.tsx';

export interface Page {
  /** Below /console. What it shows besides is in what follows: `/attacks/ID`, and in the query. */
  readonly path: string;
  readonly title: string;
  /** `g` and this letter lead to it. */
  readonly key: string;
  /** Whoever lacks it is not shown the page. */
  readonly permission: string | undefined;
  readonly component: ComponentType;
}

export const pages: readonly Page[] = [
  { path: '/', title: 'Now', key: 'n', permission: 'dns_protection:read', component: Now },
  { path: '/attacks', title: 'Attacks', key: 'a', permission: 'dns_protection:read', component: Attacks },
  { path: '/rules', title: 'Rules', key: 'r', permission: 'dns_protection:read', component: Rules },
];

export const shownPages = computed(() => pages.filter(({ permission }) => may(permission)));
