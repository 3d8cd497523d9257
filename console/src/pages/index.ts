/** The pages, in the order of the bar. The only place that knows all of them. */
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { may } from '../session.ts';
import { Access } from './access/index.tsx';
import { Attacks } from './attacks.tsx';
import { Nodes } from './nodes/index.tsx';
import { Now } from './now.tsx';
import { Rules } from './rules.tsx';
import { Traces } from './traces/index.tsx';
import { TryIt } from './tryIt/index.tsx';

export interface Page {
  /** Below /console. What it shows besides is in what follows: `/attacks/ID`, and in the query. */
  readonly path: string;
  readonly title: string;
  /** `g` and this letter lead to it. */
  readonly key: string;
  /** Whoever lacks it is not shown the page. */
  readonly permission: string | undefined;
  /** Or has this one in its place. */
  readonly orPermission?: string;
  readonly component: ComponentType;
}

export const pages: readonly Page[] = [
  { path: '/', title: 'Now', key: 'n', permission: 'dns_protection:read', component: Now },
  { path: '/attacks', title: 'Attacks', key: 'a', permission: 'dns_protection:read', component: Attacks },
  { path: '/rules', title: 'Rules', key: 'r', permission: 'dns_protection:read', component: Rules },
  { path: '/traces', title: 'Traces', key: 't', permission: undefined, component: Traces },
  { path: '/nodes', title: 'Nodes', key: 'o', permission: 'health:read', component: Nodes },
  {
    ...{ path: '/access', title: 'Access', key: 'c', component: Access },
    ...{ permission: 'tokens:read', orPermission: 'keys:read' },
  },
  { path: '/try', title: 'Try', key: 'y', permission: undefined, component: TryIt },
];

export const shownPages = computed(() =>
  pages.filter(
    ({ permission, orPermission }) => may(permission) || (orPermission !== undefined && may(orPermission)),
  ),
);
